package io.roseinfer.bench;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.model.Activation;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.List;
import java.util.function.Consumer;

/**
 * What scheduling itself costs, against the requests that run and the requests that wait: the real scheduler, KV pool, prefix
 * cache and packer over a device that computes nothing. A step is timed as an engine times it, so every phase includes one
 * reading of the clock.
 *
 * <p>All running requests decode in every step and none ends; nobody who waits is admitted. Half of the steps of a point warm it
 * up and are thrown away.
 */
public final class StepCostBenchmark {
    /** Prompt tokens of every request. */
    static final int PROMPT_TOKENS = 64;

    private static final int VOCABULARY = 50_257;
    private static final int WARM_ROUNDS = 3;
    private static final int WARM_ROWS = 64;

    /** Prompts that fit a step whatever the device's limits are. */
    private static final int MOST_PREFILLS = 64;

    private final Devices devices;
    private final EngineOptions options;
    private final int steps;
    private final Clock clock;

    /** Opens a device for a model whose shape is all there is of it. */
    @FunctionalInterface
    public interface Devices {
        ModelRunner open(ModelSpec spec, RunnerLimits limits);
    }

    /**
     * @param options the scheduler's knobs and the block size; decode batch, token budget and pool follow from what runs
     * @param steps how many steps of each point are measured
     */
    public StepCostBenchmark(Devices devices, EngineOptions options, int steps, Clock clock) {
        this.devices = devices;
        this.options = options;
        this.steps = steps;
        this.clock = clock;
    }

    /** Measures every pair, after some that only warm the compiler up; each is handed over as soon as it is known. */
    public void run(List<Integer> running, List<Integer> waiting, Consumer<StepCost> results) {
        for (int round = 0; round < WARM_ROUNDS; round++) {
            StepCost unused = measure(WARM_ROWS, WARM_ROWS);
        }
        for (int rows : running) {
            for (int queued : waiting) {
                results.accept(measure(rows, queued));
            }
        }
    }

    private StepCost measure(int running, int waiting) {
        SchedulerOptions scheduler = schedulerOptions(running);
        // Decode steps while the others are still being admitted, and some to spare.
        int fillSteps = Math.ceilDiv(running, Math.min(MOST_PREFILLS, scheduler.prefillMaxBatchSize())) + 8;
        int newTokens = fillSteps + 2 * steps;
        int context = PROMPT_TOKENS + newTokens;
        ModelSpec spec = new ModelSpec(
                "none", VOCABULARY, context, 8, 1, 1, 8, Activation.RELU, 1e-5f, true, false, true, List.of());
        int blocks = Math.multiplyExact(running, Math.ceilDiv(context, options.blockSize()) + 1);
        EngineOptions engine = options.withScheduler(scheduler).withKvBlocks(blocks);
        try (ModelRunner runner = devices.open(spec, EngineLimits.runnerLimits(engine, spec))) {
            OnlineScheduler online = new OnlineScheduler(runner, scheduler, clock, steps);
            for (int i = 0; i < running; i++) {
                enqueue(online, i, newTokens);
            }
            admitAll(online, running, 2 * fillSteps);
            for (int i = 0; i < waiting; i++) {
                enqueue(online, running + i, 1);
            }
            for (int step = 0; step < 2 * steps - 1; step++) {
                Check.that(online.step().size() == running, "a step has not all %d rows", running, running);
            }
            return StepCost.of(running, waiting, online.steps());
        }
    }

    /** Steps until all decode together. */
    private static void admitAll(OnlineScheduler online, int running, int mostSteps) {
        for (int step = 0; online.step().size() < running; step++) {
            if (step == mostSteps) {
                throw new BadInput("the admission policy " + online.options().admission() + " has not admitted all of "
                        + running + " requests after " + step + " steps; measure one that lets nobody starve");
            }
        }
    }

    private SchedulerOptions schedulerOptions(int running) {
        SchedulerOptions given = options.scheduler();
        return new SchedulerOptions(
                running,
                given.prefillMaxBatchSize(),
                SchedulerOptions.UNLIMITED,
                given.decodeFirst(),
                given.admission(),
                running,
                given.chunkedPrefill(),
                given.prefixCache());
    }

    /** Prompts differ from their first tokens on, so that none shares another's blocks. */
    private static void enqueue(OnlineScheduler online, int index, int newTokens) {
        int[] prompt = new int[PROMPT_TOKENS];
        prompt[0] = index % VOCABULARY;
        prompt[1] = index / VOCABULARY;
        online.enqueue(prompt, newTokens, SamplingParams.greedy(), 0, true);
    }
}
