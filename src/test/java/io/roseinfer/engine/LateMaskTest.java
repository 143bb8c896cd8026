package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.TokenMask;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.StepObserver;
import io.roseinfer.sampling.LogitConstraints.Target;
import io.roseinfer.sampling.MaskSource;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Masks that are not ready when a step takes its samples. */
class LateMaskTest {
    private static final int VOCABULARY = Models.spec().vocabularySize();
    private static final int SEQUENCES = 12;
    private static final int SAMPLES = 64;

    /**
     * Allows one token after some tokens, and after the others the ids whose sum with the token is even. Makes the only token
     * likely, and after some others a guess. Ready after a random number of questions.
     */
    private static final class TestMasks implements MaskSource {
        private static final int MAX_LIKELY = 5;

        private final RandomGenerator random;
        private final int lateness;
        private final int fixed;
        private final int[] likely = new int[MAX_LIKELY];
        private int likelyCount;
        private int appended;
        private int last;
        private int questions;

        /**
         * Creates masks.
         *
         * @param fixed one in this many tokens is followed by a choice
         */
        TestMasks(RandomGenerator random, int lateness, int fixed) {
            this.random = random;
            this.lateness = lateness;
            this.fixed = fixed;
            findLikely();
        }

        private boolean isFixed(int token) {
            return token % fixed != 0;
        }

        private static int only(int token) {
            return (7 * token + 1) % VOCABULARY;
        }

        private TokenMask mask(int token) {
            return TokenMask.of(
                    VOCABULARY,
                    IntStream.range(0, VOCABULARY)
                            .filter(id -> isFixed(token) ? id == only(token) : (id + token) % 2 == 0)
                            .boxed()
                            .toList());
        }

        /** Half of the choices have a guess, which is often wrong. */
        private void findLikely() {
            appended = 0;
            likelyCount = 0;
            int token = last;
            while (fixed > 1 && likelyCount < MAX_LIKELY && (isFixed(token) || token % 4 == 0)) {
                token = isFixed(token) ? only(token) : token / 2 * 2 % VOCABULARY;
                likely[likelyCount++] = token;
            }
        }

        @Override
        public boolean needsTokens() {
            return true;
        }

        @Override
        public boolean isReady() {
            questions = Math.max(0, questions - 1);
            return questions == 0;
        }

        @Override
        public void append(int token) {
            last = token;
            if (appended < likelyCount && likely[appended] == token) {
                appended++;
                return;
            }
            findLikely();
            questions = random.nextInt(lateness + 1);
        }

        @Override
        public int likelyTokens(int max, int[] into) {
            int count = questions == 0 ? Math.min(max, likelyCount - appended) : 0;
            System.arraycopy(likely, appended, into, 0, count);
            return count;
        }

        @Override
        public void apply(int ahead, Target target) {
            target.mask(mask(ahead == 0 ? last : likely[appended + ahead - 1]));
        }
    }

    /** Drafts only what masks make likely. */
    private record Silent(int maxTokens) implements Drafter {
        @Override
        public Drafts newDrafts(PolicyRequest request) {
            return (tokens, max, into) -> 0;
        }
    }

    /**
     * The settings of a run.
     *
     * @param depth steps in flight
     * @param fixed see {@link TestMasks}
     */
    private record Setting(int depth, int blocks, int lateness, int fixed, Drafter drafter) {
        Setting withLateness(int value) {
            return new Setting(depth, blocks, value, fixed, drafter);
        }
    }

    /** Returns the completions of sequences; every second one has masks. */
    private static List<List<Integer>> run(Setting setting, long seed, StepTotals totals) {
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(5)
                .chunkedPrefill(seed % 2 == 0)
                .prefillMaxTokens(16)
                .drafter(setting.drafter())
                .build();
        RunnerLimits limits =
                new RunnerLimits(Scheduler.maxRows(options), 256, 4, setting.blocks()).withMaxSamples(SAMPLES);
        SimRunner runner =
                new SimRunner(Models.spec(), limits, SimOptions.defaults().withMaxInFlight(setting.depth()));
        Scheduler scheduler = new Scheduler(
                options,
                new KvBlockPool(setting.blocks(), 4, true),
                256,
                SAMPLES,
                SAMPLES,
                VOCABULARY,
                new WaitingQueue(1, options.policies()),
                0,
                admitted -> {});
        Pipeline pipeline = new Pipeline(0, runner, scheduler, () -> 0, StepObserver.all(List.of()));
        List<Sequence> sequences = new ArrayList<>();
        Random random = new Random(seed);
        for (int i = 0; i < SEQUENCES; i++) {
            int[] prompt = IntStream.range(0, 3 + i).map(at -> at % VOCABULARY).toArray();
            Sequence sequence = new Sequence(
                    i, scheduler, prompt, prompt.length + 5 + 3 * i, SamplingParams.random(), i, new int[0]);
            if (i % 2 == 0) {
                sequence.setMasks(new TestMasks(random, setting.lateness(), setting.fixed()));
            }
            sequences.add(sequence);
            scheduler.add(sequence);
        }
        while (scheduler.hasWork() || pipeline.inFlight() > 0) {
            if (pipeline.lacksSampling()) {
                pipeline.startSampling();
            }
            while (pipeline.hasCapacity() && !pipeline.plan(0).isEmpty()) {
                pipeline.launch();
            }
            if (pipeline.inFlight() > 0) {
                pipeline.complete();
            }
        }
        scheduler.check();
        totals.steps += scheduler.steps();
        totals.preemptions += scheduler.total(Fact.PREEMPTIONS);
        totals.drafts += scheduler.total(Fact.DRAFT_TOKENS);
        totals.accepted += scheduler.total(Fact.ACCEPTED_TOKENS);
        assertThat(sequences)
                .allSatisfy(sequence -> assertThat(sequence.finishReason()).contains(FinishReason.LENGTH));
        return sequences.stream()
                .map(sequence -> IntStream.range(sequence.promptLength(), sequence.length())
                        .mapToObj(sequence::token)
                        .toList())
                .toList();
    }

    private static final class StepTotals {
        private long steps;
        private long preemptions;
        private long drafts;
        private long accepted;
    }

    @ParameterizedTest
    @CsvSource({"1, 400", "2, 400", "1, 30", "2, 30"})
    void late_masks_change_no_token(int depth, int blocks) {
        StepTotals prompt = new StepTotals();
        StepTotals late = new StepTotals();
        Setting setting = new Setting(depth, blocks, 0, 1, Drafter.none());
        for (long seed = 0; seed < 200; seed++) {
            List<List<Integer>> expected = run(setting, seed, prompt);
            assertThat(run(setting.withLateness(6), seed, late))
                    .as("seed %d", seed)
                    .isEqualTo(expected);
        }
        assertThat(late.steps).as("steps with late masks").isGreaterThan(prompt.steps);
        assertThat(late.preemptions > 0).as("preempted").isEqualTo(blocks < 100);
    }

    @ParameterizedTest
    @CsvSource({"1, 400", "2, 400", "1, 30", "2, 30"})
    void drafts_of_likely_tokens_change_no_token(int depth, int blocks) {
        StepTotals plain = new StepTotals();
        StepTotals drafted = new StepTotals();
        Setting setting = new Setting(depth, blocks, 0, 3, Drafter.none());
        for (long seed = 0; seed < 200; seed++) {
            List<List<Integer>> expected = run(setting, seed, plain);
            int lateness = seed % 3 == 0 ? 0 : 4;
            Setting drafting = new Setting(depth, blocks, lateness, 3, new Silent(1 + (int) seed % 7));
            assertThat(run(drafting, seed, drafted)).as("seed %d", seed).isEqualTo(expected);
        }
        assertThat(drafted.accepted).isGreaterThan(1000).isLessThan(drafted.drafts - 100);
        assertThat(drafted.preemptions > 0).as("preempted").isEqualTo(blocks < 100);
    }
}
