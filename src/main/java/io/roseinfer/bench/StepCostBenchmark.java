package io.roseinfer.bench;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.Compilers;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Attention;
import io.roseinfer.model.BlockSpec.Mlp;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.BlockSpec.Residual;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures the scheduler's own time per step, by numbers of running and waiting requests: the real scheduler, KV pool, prefix cache and
 * packer run on a device that computes nothing. Steps are timed as in an engine, so every phase includes one clock reading.
 *
 * <p>In the first phase all running requests decode in every step and none ends, so no waiting request is considered. Half of these
 * steps are warm-up and discarded, and the compilation of what they ran is awaited. In the second phase one slot is free: for each
 * measured step a waiting request is admitted while the others decode, ends with its first token, and a new one joins the queue.
 */
public final class StepCostBenchmark {
    /** Prompt tokens of every request. */
    public static final int PROMPT_TOKENS = 64;

    /** Maximum number of tokens by which prompts of waiting requests are shorter. */
    private static final int SHORTER = 48;

    private static final int VOCABULARY = 50_257;
    private static final int WARM_ROUNDS = 3;
    private static final int WARM_ROWS = 64;

    /** Prompts that fit a step regardless of the device's limits. */
    private static final int MAX_PREFILLS = 64;

    private final Devices devices;
    private final EngineOptions options;
    private final int steps;
    private final Clock clock;

    /** Opens a device for a model without weights. */
    @FunctionalInterface
    public interface Devices {
        ModelRunner open(ModelSpec spec, RunnerLimits limits);
    }

    /**
     * @param options scheduler options and block size; batch size, token budget and pool size follow from the number of requests
     * @param steps measured steps per point
     */
    public StepCostBenchmark(Devices devices, EngineOptions options, int steps, Clock clock) {
        this.devices = devices;
        this.options = options;
        this.steps = steps;
        this.clock = clock;
    }

    /** Measures all combinations after a warm-up of the compiler, and passes on each result immediately. */
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
        // Decode steps while other requests are still being admitted, and a margin.
        int fillSteps = Math.ceilDiv(running, Math.min(MAX_PREFILLS, scheduler.prefillMaxBatchSize())) + 8;
        int newTokens = fillSteps + 2 * steps + maxAdmissionSteps();
        int context = PROMPT_TOKENS + newTokens;
        ModelSpec spec = unread(context);
        int blocks = Math.multiplyExact(running, Math.ceilDiv(context, options.blockSize()) + 1);
        EngineOptions engine = options.withScheduler(scheduler).withKvBlocks(blocks);
        try (ModelRunner runner = devices.open(spec, EngineLimits.runnerLimits(engine, spec))) {
            OnlineScheduler online = new OnlineScheduler(runner, scheduler, clock, maxAdmissionSteps(), Observers.NONE);
            long first = enqueue(online, 0, PROMPT_TOKENS, newTokens);
            for (int i = 1; i < running; i++) {
                enqueue(online, i, PROMPT_TOKENS, newTokens);
            }
            admitAll(online, running, 2 * fillSteps);
            for (int i = 0; i < waiting; i++) {
                enqueueWaiting(online, running + i);
            }
            decode(online, running, steps - 1);
            Compilers.awaitStill(clock);
            decode(online, running, steps);
            List<StepRecord> decoding = newest(online.steps());
            online.discardRequest(first);
            return StepCost.of(
                    running, waiting, decoding, waiting == 0 ? List.of() : admitting(online, running + waiting));
        }
    }

    private static void decode(OnlineScheduler online, int running, int steps) {
        for (int step = 0; step < steps; step++) {
            Check.that(online.step().size() == running, "a step has not all %d rows", running, running);
        }
    }

    /** Returns a model for a simulated device; only its vocabulary and context matter. */
    private static ModelSpec unread(int context) {
        Norm norm = Norm.layer(1e-5f);
        BlockSpec block = new BlockSpec(
                Attention.plain(1, 8, 1),
                new Mlp(8, Activation.RELU, false),
                norm,
                new Positions.Learned(),
                Residual.SEQUENTIAL);
        return new ModelSpec(
                "none", VOCABULARY, context, 8, 1, List.of(block), ModelSpec.Head.plain(norm, true), List.of());
    }

    /** Returns the newest steps, as many as are measured. */
    private List<StepRecord> newest(List<StepRecord> records) {
        return records.subList(Math.max(0, records.size() - steps), records.size());
    }

    /** Returns the step limit of the second phase: alternating admission and decode steps, and a margin. */
    private int maxAdmissionSteps() {
        return 2 * steps + 8;
    }

    /** Runs until enough requests have been admitted, and returns the steps that admitted one. */
    private List<StepRecord> admitting(OnlineScheduler online, int nextIndex) {
        online.popFinishedIds();
        int admitted = 0;
        for (int step = 0; admitted < steps; step++) {
            if (step == maxAdmissionSteps()) {
                throw starving(online, "more than " + admitted + " of " + steps, step);
            }
            online.step();
            for (long ended : online.popFinishedIds()) {
                online.discardRequest(ended);
                enqueueWaiting(online, nextIndex + admitted);
                admitted++;
            }
        }
        return newest(online.steps().stream()
                .filter(step -> step.get(Fact.PREFILL_TOKENS) > 0)
                .toList());
    }

    /** Runs until all requests decode. */
    private static void admitAll(OnlineScheduler online, int running, int maxSteps) {
        for (int step = 0; online.step().size() < running; step++) {
            if (step == maxSteps) {
                throw starving(online, "all of " + running, step);
            }
        }
    }

    private static BadInput starving(OnlineScheduler online, String requests, int steps) {
        return new BadInput("the admission policy " + online.options().admission() + " has not admitted " + requests
                + " requests after " + steps + " steps; choose a policy that does not starve requests");
    }

    private SchedulerOptions schedulerOptions(int running) {
        return options.scheduler().toBuilder()
                .maxBatchSize(running)
                .prefillMaxTokens(SchedulerOptions.UNLIMITED)
                .maxActiveRequests(running)
                .build();
    }

    /** Adds a waiting request of one token; prompt lengths vary, so that a policy has a choice. */
    private static void enqueueWaiting(OnlineScheduler online, int index) {
        long unused = enqueue(online, index, PROMPT_TOKENS - index % SHORTER, 1);
    }

    /** Adds a request whose prompt differs from all others in its first tokens, so that no blocks are shared. */
    private static long enqueue(OnlineScheduler online, int index, int promptTokens, int newTokens) {
        int[] prompt = new int[promptTokens];
        prompt[0] = index % VOCABULARY;
        prompt[1] = index / VOCABULARY;
        return online.enqueue(prompt, newTokens, SamplingParams.greedy(), 0, true);
    }
}
