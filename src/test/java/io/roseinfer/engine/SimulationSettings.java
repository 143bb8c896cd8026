package io.roseinfer.engine;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.example.ShortestJobFirst;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.CachedBlock;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.RunningRequest;
import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.scheduler.policy.WaitingRequest;

/**
 * The random settings of a seed. Every seed draws all of them (swarm testing), so that one run has a tiny pool and no
 * cancellations, and the next a faulty device and a large pool.
 *
 * @param engine block size, pool, stream interval and scheduler options
 * @param contextLength context length of the model
 * @param vocabularySize vocabulary size of the model; small ones make end-of-text frequent
 * @param maxInFlight maximum steps in flight on the device
 * @param spareBlocks blocks the device was loaded with beyond the engine's pool
 * @param flood whether short requests keep arriving while some that need most of the pool wait
 * @param requests number of arrivals
 * @param arrivalRate probability of a further arrival in an iteration; with 1 all arrive together
 * @param families number of distinct prompt prefixes
 * @param endOfTextRate share of requests that end at the end-of-text token
 * @param cancelRate probability of a cancellation before an iteration
 * @param readRate probability that a reader reads its stream after an iteration; some never do
 * @param clockTickNanos advance of the clock per reading
 * @param faults what goes wrong
 */
record SimulationSettings(
        long seed,
        EngineOptions engine,
        int contextLength,
        int vocabularySize,
        int maxInFlight,
        int spareBlocks,
        boolean flood,
        int requests,
        double arrivalRate,
        int families,
        double endOfTextRate,
        double cancelRate,
        double readRate,
        int clockTickNanos,
        Faults faults) {

    /** Long enough for completions that outgrow the initial capacity of a {@link TokenBuffer}. */
    private static final int LONG_CONTEXT = 1000;

    private static final int MAX_ROWS = 8;

    private static final int NEVER = Integer.MAX_VALUE;

    /** A separate random stream; with this name the seeds of regressions.txt keep the runs they failed with. */
    private static final String POLICIES = "policies 163";

    /** The random stream of the drafter. */
    private static final String DRAFTS = "drafts";

    /** The random stream of holds, named for the same reason. */
    private static final String HOLDS = "holds 271";

    /** The random stream of evictions, named for the same reason. */
    private static final String EVICTION = "eviction 133";

    /** The random stream of a step's tokens on bounded devices, named for the same reason. */
    private static final String STEP_TOKENS = "step tokens 1707";

    /**
     * What goes wrong.
     *
     * @param stepLost probability that the device loses a step and can continue
     * @param notFinite probability that a step has a row with NaN logits
     * @param badId probability that a step has a row with an id outside the vocabulary
     * @param closeAtIteration the iteration before which the engine is closed
     * @param deviceLostAtStep the step at which the device fails for good
     */
    record Faults(double stepLost, double notFinite, double badId, int closeAtIteration, int deviceLostAtStep) {
        static Faults none() {
            return new Faults(0, 0, 0, NEVER, NEVER);
        }
    }

    static SimulationSettings of(long seed) {
        Dice dice = new Dice(seed, "settings");
        boolean flood = dice.chance(0.08);
        int blockSize = dice.oneOf(1, 2, 3, 4, 5, 8, 16, 64);
        int drawn = dice.oneOf(8, 24, 64, 150);
        boolean isPrefillFirst = new Dice(seed, "steps").chance(0.2);
        boolean isLong = !flood && new Dice(seed, "long").chance(0.01);
        int context = isLong ? LONG_CONTEXT : drawn;
        int longest = Math.ceilDiv(context, blockSize);
        int blocks = isLong
                ? dice.between(longest, 2 * longest)
                : Math.clamp(
                        flood
                                ? longest
                                : dice.chance(0.7) ? dice.between(longest / 2, 2 * longest) : dice.between(3, 200),
                        3,
                        200);
        EngineOptions engine = EngineOptions.defaults()
                .withScheduler(evicting(scheduler(dice, new Dice(seed, POLICIES), isPrefillFirst, seed), seed))
                .withBlockSize(blockSize)
                .withKvBlocks(blocks)
                .withStreamInterval(dice.coin() ? 1 : dice.between(1, 9));
        int vocabulary = dice.oneOf(5, 50, 1000, 1000);
        return new SimulationSettings(
                seed,
                withDrafter(engine, seed, vocabulary),
                context,
                vocabulary,
                dice.between(1, 2),
                dice.coin() ? 0 : dice.between(1, 50),
                flood,
                requests(flood, isLong, dice),
                flood ? dice.oneOf(0.6, 0.8) : dice.oneOf(0.1, 0.3, 0.7, 1),
                dice.between(1, 3),
                dice.oneOf(0, 0.5, 1.0),
                dice.oneOf(0, 0, 0.05, 0.3),
                dice.oneOf(0.1, 0.5, 1),
                dice.between(0, 3),
                faults(dice));
    }

    /** Returns options that for every third seed with a prefix cache evict by random ranks. */
    private static SchedulerOptions evicting(SchedulerOptions options, long seed) {
        Dice dice = new Dice(seed, EVICTION);
        return options.prefixCache() && dice.chance(0.3)
                ? options.toBuilder()
                        .eviction(new AnyRank(dice.oneOf(1, 3, 1000)))
                        .build()
                : options;
    }

    /** Ranks cached blocks at random, as a faulty policy might. */
    private record AnyRank(int ranks) implements EvictionPolicy {
        @Override
        public long rank(CachedBlock block, QueueView queue) {
            return SplitMix64.at(block.request().id(), block.tokensBefore() + block.hits()) % ranks;
        }
    }

    /** Returns options that for every fourth seed speculate, with drafts that are right, wrong or partly right. */
    private static EngineOptions withDrafter(EngineOptions engine, long seed, int vocabulary) {
        Dice dice = new Dice(seed, DRAFTS);
        if (!dice.chance(0.25)) {
            return engine;
        }
        Drafter drafter = dice.chance(0.1)
                ? byText(dice.between(1, Drafter.MAX_ROW_TOKENS - 1))
                : new OracleDrafter(
                        dice.between(1, Drafter.MAX_ROW_TOKENS - 1),
                        vocabulary,
                        seed,
                        dice.oneOf(0, 0.5, 0.9, 0.9, 1),
                        dice.oneOf(0.5, 1));
        return engine.withScheduler(
                engine.scheduler().toBuilder().drafter(drafter).build());
    }

    private static Drafter byText(int tokens) {
        return switch (tokens % 3) {
            case 0 -> Drafter.ngram(tokens);
            case 1 -> Drafter.suffix(tokens, false);
            default -> Drafter.suffix(tokens, true);
        };
    }

    /** Returns the same settings with other options of the engine. */
    SimulationSettings withEngine(EngineOptions options) {
        return new SimulationSettings(
                seed,
                options,
                contextLength,
                vocabularySize,
                maxInFlight,
                spareBlocks,
                flood,
                requests,
                arrivalRate,
                families,
                endOfTextRate,
                cancelRate,
                readRate,
                clockTickNanos,
                faults);
    }

    private static int requests(boolean flood, boolean isLong, Dice dice) {
        int drawn = flood ? dice.between(200, 400) : dice.coin() ? dice.between(1, 8) : dice.between(8, 40);
        return isLong ? Math.min(drawn, 6) : drawn;
    }

    private static SchedulerOptions scheduler(Dice dice, Dice policies, boolean isPrefillFirst, long seed) {
        SchedulerOptions.Builder options = SchedulerOptions.builder()
                .maxBatchSize(dice.between(1, MAX_ROWS))
                .prefillMaxBatchSize(dice.between(1, 8))
                .decodeFirst(dice.coin())
                .chunkedPrefill(dice.coin())
                .prefixCache(dice.chance(0.7));
        if (dice.chance(0.7)) {
            options.prefillMaxTokens(dice.coin() ? dice.between(1, 8) : dice.between(1, 100));
        }
        if (dice.chance(0.3)) {
            options.maxActiveRequests(dice.between(1, 6));
        }
        AdmissionPolicy admission = policy(dice);
        if (isPrefillFirst) {
            options.chunkedPrefill(true).step(new PrefillFirst());
        }
        return options.preemption(preemption(policies))
                .admission(holding(policies.chance(0.1) ? new MostUrgent() : admission, seed))
                .build();
    }

    /**
     * Plans prompts before decode rows, so that rows without a sample precede rows with one. Leaves room for the
     * maximum of decode rows.
     */
    private record PrefillFirst() implements StepPolicy {
        @Override
        public void plan(StepBuilder step) {
            step.prefill(Math.max(1, step.prefillMaxTokens() - MAX_ROWS));
            step.decode();
        }
    }

    static AdmissionPolicy policy(Dice dice) {
        int lookahead = dice.chance(0.2) ? 64 : dice.between(1, 6);
        return switch (dice.below(8)) {
            case 0, 1 -> AdmissionPolicy.pack(lookahead, dice.below(4));
            case 2 -> AdmissionPolicy.pack(lookahead, dice.between(8, 40));
            case 3 -> new AnyOrder(dice.chance(0.2) ? SchedulerOptions.UNLIMITED : lookahead, dice.coin());
            case 4 -> new NewestFirst();
            case 5 -> new ShortestJobFirst();
            default -> AdmissionPolicy.fifo();
        };
    }

    /** Returns a policy that for some seeds keeps requests waiting at random, or while any other runs. */
    static AdmissionPolicy holding(AdmissionPolicy policy, long seed) {
        Dice dice = new Dice(seed, HOLDS);
        return dice.chance(0.15) ? new Holding(policy, dice.oneOf(0.3, 0.9, 1)) : policy;
    }

    /** Ranks like another policy, and holds requests at random. */
    private record Holding(AdmissionPolicy order, double rate) implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return order.lookahead();
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return order.rank(request, queue);
        }

        @Override
        public boolean isStrict(QueueView queue) {
            return order.isStrict(queue);
        }

        @Override
        public boolean holds(WaitingRequest request, QueueView queue) {
            return SplitMix64.uniform(request.id(), queue.step()) < rate;
        }
    }

    private static PreemptionPolicy preemption(Dice dice) {
        return switch (dice.below(10)) {
            case 0 -> new AnyVictim(dice.below(1000));
            case 1 -> (one, other, queue) -> one.arrival() < other.arrival() ? one : other;
            case 2 -> (one, other, queue) -> one.priority() < other.priority() ? one : other;
            default -> PreemptionPolicy.youngest();
        };
    }

    /** Chooses a victim by a hash of both requests' progress. */
    private record AnyVictim(int salt) implements PreemptionPolicy {
        @Override
        public RunningRequest victim(RunningRequest one, RunningRequest other, QueueView queue) {
            return draw(one) < draw(other) ? one : other;
        }

        private long draw(RunningRequest request) {
            return SplitMix64.at(request.id() * 31 + salt, request.length());
        }
    }

    /** Ranks only by priority. */
    private record MostUrgent() implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return 16;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return -request.priority();
        }
    }

    /** Admits the newest request first, the most unfair order, looking at all waiting requests. */
    private record NewestFirst() implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return Integer.MAX_VALUE;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return -request.id();
        }
    }

    /** Ranks at random, as a faulty policy might: the scheduler must be correct with any. */
    private record AnyOrder(int lookahead, boolean strict) implements AdmissionPolicy {
        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return SplitMix64.at(request.id(), queue.iteration());
        }

        @Override
        public boolean isStrict(QueueView queue) {
            return strict;
        }
    }

    private static Faults faults(Dice dice) {
        return new Faults(
                dice.oneOf(0, 0, 0.02, 0.2),
                dice.oneOf(0, 0, 0.05),
                dice.oneOf(0, 0, 0.05),
                dice.chance(0.15) ? dice.between(1, 80) : NEVER,
                dice.chance(0.05) ? dice.between(0, 80) : NEVER);
    }

    /** Returns whether a completion can outgrow the initial capacity of a {@link TokenBuffer}. */
    boolean isLong() {
        return contextLength > TokenBuffer.INITIAL_CAPACITY;
    }

    /** Returns the end-of-text id. */
    int endOfText() {
        return vocabularySize - 1;
    }

    ModelSpec spec() {
        return SpecBuilder.named("sim")
                .vocabulary(vocabularySize)
                .context(contextLength)
                .endOfText(endOfText())
                .build();
    }

    /**
     * Returns the limits that the device is loaded with. For every other seed its steps are smaller than the options
     * require, and it has no more samples than rows and drafts need.
     */
    RunnerLimits limits() {
        RunnerLimits wanted = EngineLimits.runnerLimits(engine, spec());
        return new RunnerLimits(
                wanted.maxRows(),
                wanted.decodeRows(),
                seed % 2 == 0 ? wanted.maxTokens() : boundedTokens(),
                seed % 2 == 0 ? wanted.maxSamples() : wanted.maxRows() + wanted.draftedTokens(),
                wanted.draftedTokens(),
                wanted.blockSize(),
                wanted.kvBlocks() + spareBlocks);
    }

    /** Returns room for the longest unsplit prompt, and for all decode rows unless prompts come first in a step. */
    private int boundedTokens() {
        SchedulerOptions scheduler = engine.scheduler();
        Dice dice = new Dice(seed, STEP_TOKENS);
        boolean isBelowContext = dice.chance(0.7) && scheduler.chunkedPrefill();
        int prompt = isBelowContext ? dice.between(1, contextLength) : contextLength;
        return prompt + (scheduler.policies().step() instanceof PrefillFirst ? 0 : scheduler.maxBatchSize());
    }

    /** Returns whether requests may get several tokens in a step. */
    boolean isSpeculative() {
        return engine.scheduler().drafter().maxTokens() > 0;
    }

    /** Returns the maximum tokens a request may grow to; the last one needs no slot. */
    int room() {
        return Math.min(contextLength, engine.kvBlocks() * engine.blockSize() + 1);
    }
}
