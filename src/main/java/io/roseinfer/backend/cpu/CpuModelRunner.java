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

/** A model on the processor: a team of workers that runs one step at a time over memory allocated at load. */
final class CpuModelRunner implements ModelRunner, StepProfiler.Source, WorkerTeam.Job {
    /** Memory with packed weights that several runners read; freed when the last of its holders lets go. */
    static final class SharedWeights {
        private final Arena arena;
        private final AtomicInteger holders = new AtomicInteger(1);

        /** Held once, by who makes it. */
        SharedWeights(Arena arena) {
            this.arena = arena;
        }

        /** One holder more; returns this. */
        SharedWeights retain() {
            holders.incrementAndGet();
            return this;
        }

        /** One holder fewer. */
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
    /** The step's block lists as an array: the kernels look blocks up in their inner loops. */
    private final int[] blocks;

    private @Nullable OperatorRecorder recorder;
    private @Nullable StepInputs inputs;
    private @Nullable StepOutputs outputs;
    private boolean closed;
    private boolean freed;

    /**
     * Takes ownership of {@code arena}, {@code team} and what the passes warm up.
     *
     * @param weights what the passes read, which others may read too; let go of at the end
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

    /** Gives a step up if its workers wait longer than that for one of them. */
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
    public StepInputs newInputs() {
        Check.that(!closed, "inputs were asked of a closed runner");
        // Memory of their own, which is collected with the engine that asked: engines come and go on a loaded model.
        return new StepInputs(Arena.ofAuto(), limits(), plan.blocksPerContext());
    }

    @Override
    public StepOutputs newOutputs() {
        return new StepOutputs(limits().maxRows());
    }

    @Override
    public void submit(StepInputs step, StepOutputs results) {
        Check.that(!closed, "a step was submitted to a closed runner");
        Check.that(inputs == null, "a step was submitted before the last one was awaited");
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
     * A logit of the step awaited last, as the sampler left it; of its last few samples only, since rows of logits are reused.
     * For holding this device against others.
     */
    float logit(int sample, int token) {
        return head.logit(sample, token);
    }

    /** Fills a block with NaN: whatever reads a slot that no token wrote then shows in its results. */
    void poison(int block) {
        Check.index(block, geometry.blocks(), "block");
        pool.poison(block);
    }

    /**
     * Lets a running step finish, ends the workers and frees all memory; but none while a worker is still at work that was given up,
     * so that it may be called again when that one has come back. Does nothing once all is freed.
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
