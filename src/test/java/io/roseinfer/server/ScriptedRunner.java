package io.roseinfer.server;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.model.ModelSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A simulated model that says what a test wants: each request gets the next reply, then the end-of-text token. Requests
 * are distinguished by their seeds, so two requests at a time need different ones.
 */
final class ScriptedRunner implements ModelRunner {
    private record Step(StepInputs inputs, StepOutputs outputs) {}

    /** A reply, and the length of its prompt. */
    private record Reply(int[] ids, int start) {
        int end() {
            return start + ids.length;
        }
    }

    private final SimRunner device;
    private final List<int[]> replies;
    private final int end;
    private final ArrayDeque<Step> submitted = new ArrayDeque<>();
    private final Map<Long, Reply> running = new HashMap<>();
    /** Replies whose end has been sampled; a sample that is skipped for a late mask is repeated. */
    private final Map<Long, Reply> ended = new HashMap<>();

    private int next;

    /**
     * Creates a model.
     *
     * @param replies the token ids of each reply; after the last one the first follows
     */
    ScriptedRunner(SimRunner device, List<int[]> replies, int end) {
        this.device = device;
        this.replies = new ArrayList<>(replies);
        this.end = end;
    }

    @Override
    public ModelSpec spec() {
        return device.spec();
    }

    @Override
    public KvGeometry kv() {
        return device.kv();
    }

    @Override
    public RunnerLimits limits() {
        return device.limits();
    }

    @Override
    public int maxInFlight() {
        return device.maxInFlight();
    }

    @Override
    public StepInputs newInputs() {
        return device.newInputs();
    }

    @Override
    public StepOutputs newOutputs() {
        return device.newOutputs();
    }

    @Override
    public void submit(StepInputs inputs, StepOutputs outputs) {
        device.submit(inputs, outputs);
        submitted.addLast(new Step(inputs, outputs));
    }

    @Override
    public void submitPass(StepInputs inputs, StepOutputs outputs) {
        device.submitPass(inputs, outputs);
        submitted.addLast(new Step(inputs, outputs));
    }

    @Override
    public void submitSampling(StepInputs inputs, StepOutputs outputs) {
        device.submitSampling(inputs, outputs);
    }

    @Override
    public void await() {
        device.await();
        Step step = Objects.requireNonNull(submitted.pollFirst());
        for (int sample = 0; sample < step.inputs().samples(); sample++) {
            step.outputs().set(sample, token(step.inputs(), sample), StepOutputs.Status.OK);
        }
    }

    private int token(StepInputs inputs, int sample) {
        long seed = inputs.sampling(sample).seed();
        int length = inputs.sampleLength(sample);
        Reply last = ended.get(seed);
        if (last != null && length == last.end()) {
            return end;
        }
        Reply reply = running.computeIfAbsent(seed, unused -> new Reply(replies.get(next++ % replies.size()), length));
        if (length < reply.end()) {
            return reply.ids()[length - reply.start()];
        }
        running.remove(seed);
        ended.put(seed, reply);
        return end;
    }

    @Override
    public List<MemoryUse> memory() {
        return device.memory();
    }

    @Override
    public void close() {
        device.close();
    }
}
