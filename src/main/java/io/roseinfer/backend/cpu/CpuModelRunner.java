package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepCheck;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.StepProfiler;
import io.roseinfer.backend.cpu.kernel.KvPool;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.model.ModelSpec;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A model on the CPU: a worker team that runs one step at a time over memory allocated at load. */
final class CpuModelRunner implements ModelRunner, StepProfiler.Source, WorkerTeam.Job {
    private static final int DRAFTED_TOKENS = 16;

    /** Reference-counted memory of packed weights, shared by runners. */
    static final class SharedWeights {
        private final Arena arena;
        private final AtomicInteger holders = new AtomicInteger(1);

        /** Creates the weights with one reference. */
        SharedWeights(Arena arena) {
            this.arena = arena;
        }

        /** Adds a reference and returns this. */
        SharedWeights retain() {
            holders.incrementAndGet();
            return this;
        }

        /** Drops a reference; frees the memory with the last. */
        void release() {
            if (holders.decrementAndGet() == 0) {
                arena.close();
            }
        }
    }

    private final RunnerPlan plan;
    private final KvGeometry geometry;
    private final Arena arena;
    private final WorkerTeam team;
    private final KvPool pool;
    private final ForwardPass forward;
    private final LmHeadPass head;
    private final KernelWarmUp warmUp;
    private final StepWork work;
    private final StepCheck check;
    private final SharedWeights weights;
    /** The step's block tables as an array, for the kernels' inner loops. */
    private final int[] blocks;

    private @Nullable OperatorRecorder recorder;
    private @Nullable StepInputs inputs;
    private @Nullable StepOutputs outputs;
    private boolean closed;
    private boolean freed;

    /**
     * Takes ownership of {@code arena}, {@code team} and the warm-up of {@code passes}.
     *
     * @param weights shared with other runners; released at close
     */
    CpuModelRunner(RunnerPlan plan, Arena arena, WorkerTeam team, KvPool pool, Passes passes, SharedWeights weights) {
        this.weights = weights;
        this.plan = plan;
        this.geometry = plan.kv();
        this.arena = arena;
        this.team = team;
        this.pool = pool;
        this.forward = passes.forward();
        this.head = passes.head();
        this.warmUp = passes.warmUp();
        this.work = passes.work();
        this.check = new StepCheck(plan.spec(), geometry);
        this.blocks = new int[StepInputs.listedBlocks(plan.limits(), plan.blocksPerContext())];
    }

    /** Makes steps fail if the workers wait longer than the limit for one of them. */
    void setStallLimit(StallLimit limit) {
        team.setStallLimit(limit);
    }

    @Override
    public ModelSpec spec() {
        return plan.spec();
    }

    @Override
    public KvGeometry kv() {
        return geometry;
    }

    @Override
    public RunnerLimits limits() {
        return plan.limits();
    }

    @Override
    public int maxInFlight() {
        return 1;
    }

    @Override
    public int maxDraftedTokens() {
        return DRAFTED_TOKENS;
    }

    @Override
    public StepInputs newInputs() {
        Check.that(!closed, "inputs were asked of a closed runner");
        // A separate automatic arena: inputs live as long as their engine, and engines come and go on a loaded model.
        return new StepInputs(Arena.ofAuto(), limits(), plan.blocksPerContext());
    }

    @Override
    public StepOutputs newOutputs() {
        return new StepOutputs(limits().maxSamples());
    }

    private void requireIdle() {
        Check.that(!closed, "a step was submitted to a closed runner");
        Check.that(inputs == null, "a step was submitted before the last one was awaited");
    }

    @Override
    public void submit(StepInputs step, StepOutputs results) {
        requireIdle();
        if (recorder != null) {
            recorder.begin();
        }
        check.check(step, 0);
        int used = step.blockStart(step.rows());
        for (int i = 0; i < used; i++) {
            blocks[i] = step.block(i);
        }
        forward.use(warmUp.kindFor(work.productFlops(step)));
        forward.begin(step);
        inputs = step;
        outputs = results;
        team.submit(this);
    }

    @Override
    public void await() {
        StepInputs step = inputs;
        Check.that(step != null, "no step was submitted");
        try {
            team.await();
            if (recorder != null && step != null) {
                recorder.end(step);
            }
        } finally {
            inputs = null;
            outputs = null;
        }
    }

    @Override
    public void run(int worker) {
        StepInputs step = inputs;
        StepOutputs results = outputs;
        if (step != null && results != null) {
            forward.run(worker, step, blocks);
            head.run(worker, step, results);
        }
    }

    @Override
    public EventCount.WaitTask waitTask(int worker) {
        return head.waitTask(worker);
    }

    @Override
    public StepProfiler profile(Clock clock) {
        Check.that(inputs == null, "a step is in flight");
        OperatorRecorder started = forward.record(clock);
        recorder = started;
        return started;
    }

    @Override
    public Optional<Precision> precision() {
        return Optional.of(plan.format().precision());
    }

    @Override
    public boolean warmUp(long maxNanos, long fastestNanos) {
        Check.that(!closed, "a closed runner was to warm up");
        return warmUp.await(maxNanos, fastestNanos);
    }

    @Override
    public List<MemoryUse> memory() {
        return plan.memory().uses();
    }

    /**
     * Returns a logit of the step awaited last, as the sampler left it; only of its last few samples, since rows of logits are reused. For
     * comparing devices.
     */
    float logit(int sample, int token) {
        return head.logit(sample, token);
    }

    /** Fills a block with NaN, so that a read of an unwritten slot shows in the results. */
    void poison(int block) {
        Check.index(block, geometry.blocks(), "block");
        pool.poison(block);
    }

    /**
     * Finishes a running step, ends the workers and frees all memory. After a stall it frees nothing while a worker still runs, and may be
     * called again. Idempotent once all is freed.
     */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            warmUp.close();
            team.close();
        }
        if (!freed && team.isOver()) {
            freed = true;
            arena.close();
            weights.release();
        }
    }
}
