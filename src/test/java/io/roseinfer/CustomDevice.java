package io.roseinfer;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepCheck;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** A device that is not built in. Each token is the last one plus one. It fails in the call that its argument names. */
public final class CustomDevice implements Backend {
    private final String fault;
    private boolean closed;

    public CustomDevice() {
        this("");
    }

    public CustomDevice(String fault) {
        this.fault = fault;
        failIn("new");
    }

    private void failIn(String call) {
        if (fault.equals(call)) {
            throw new IllegalStateException("boom");
        }
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    @SuppressWarnings("NullAway") // a null name is one of the faults
    public String name() {
        return fault.equals("null name") ? null : "adder-7";
    }

    @Override
    public String description() {
        return "adds one";
    }

    @Override
    public int threads() {
        return 5;
    }

    @Override
    @SuppressWarnings("NullAway") // a null runner is one of the faults
    public ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits) {
        failIn("load");
        if (fault.equals("null load")) {
            return null;
        }
        if (fault.equals("link")) {
            throw new UnsatisfiedLinkError("no adder");
        }
        if (fault.equals("model")) {
            throw new BadModel("the adder has no such model");
        }
        if (fault.equals("input")) {
            throw new BadInput("the adder needs a larger rose");
        }
        return new Runner(spec, limits);
    }

    @Override
    public List<ModelRunner> load(ModelSpec spec, Weights weights, RunnerLimits limits, int replicas) {
        return Backend.super.load(spec, weights, limits, fault.equals("replicas") ? replicas + 1 : replicas);
    }

    @Override
    public void close() {
        closed = true;
    }

    private record Step(StepInputs inputs, StepOutputs outputs) {}

    private final class Runner implements ModelRunner {
        private final ModelSpec spec;
        private final RunnerLimits limits;
        private final KvGeometry kv;
        private final StepCheck check;
        private final Arena arena = Arena.ofShared();
        private final Deque<Step> submitted = new ArrayDeque<>();

        Runner(ModelSpec spec, RunnerLimits limits) {
            this.spec = spec;
            this.limits = limits;
            this.kv = new KvGeometry(limits.blockSize(), 512, 0);
            this.check = new StepCheck(spec, kv);
        }

        @Override
        public ModelSpec spec() {
            return spec;
        }

        @Override
        public KvGeometry kv() {
            return kv;
        }

        @Override
        public RunnerLimits limits() {
            return limits;
        }

        @Override
        public int maxInFlight() {
            return fault.equals("depth") ? 0 : 1;
        }

        @Override
        public StepInputs newInputs() {
            failIn("newInputs");
            return new StepInputs(arena, limits, kv.blocksFor(spec.contextLength()));
        }

        @Override
        public StepOutputs newOutputs() {
            return new StepOutputs(limits.maxSamples());
        }

        @Override
        public void submit(StepInputs inputs, StepOutputs outputs) {
            failIn("submit");
            check.check(inputs, 0);
            submitted.add(new Step(inputs, outputs));
        }

        @Override
        public void submitSampling(StepInputs inputs, StepOutputs outputs) {
            failIn("sampling");
            submit(inputs, outputs);
        }

        @Override
        @SuppressWarnings("NullAway") // a null status is one of the faults
        public void await() {
            failIn("await");
            Step step = submitted.remove();
            for (int sample = 0; sample < step.inputs().samples(); sample++) {
                int last = step.inputs().tokenId(step.inputs().sampleToken(sample));
                int next = fault.equals("vocabulary") ? spec.vocabularySize() : (last + 1) % spec.vocabularySize();
                step.outputs().set(sample, next, fault.equals("status") ? null : StepOutputs.Status.OK);
            }
        }

        @Override
        public boolean warmUp(long maxNanos, long fastestNanos) {
            failIn("warmUp");
            return true;
        }

        @Override
        public List<MemoryUse> memory() {
            return List.of();
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
