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

    /** Allows the ids whose sum with the last token is even; ready after a random number of questions. */
    private static final class ParityMasks implements MaskSource {
        private final RandomGenerator random;
        private final int lateness;
        private final TokenMask[] masks = {parity(0), parity(1)};
        private int last;
        private int questions;

        ParityMasks(RandomGenerator random, int lateness) {
            this.random = random;
            this.lateness = lateness;
        }

        private static TokenMask parity(int odd) {
            return TokenMask.of(
                    VOCABULARY,
                    IntStream.range(0, VOCABULARY)
                            .filter(id -> id % 2 == odd)
                            .boxed()
                            .toList());
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
            questions = random.nextInt(lateness + 1);
        }

        @Override
        public int likelyTokens(int max, int[] into) {
            return 0;
        }

        @Override
        public void apply(int ahead, Target target) {
            target.mask(masks[last % 2]);
        }

        @Override
        public MaskSource restart() {
            return new ParityMasks(random, lateness);
        }
    }

    /** Returns the completions of sequences, of which every second one has masks. */
    private static List<List<Integer>> run(int depth, int blocks, int lateness, long seed, StepTotals totals) {
        SchedulerOptions options = SchedulerOptions.builder()
                .maxBatchSize(5)
                .chunkedPrefill(seed % 2 == 0)
                .prefillMaxTokens(16)
                .build();
        RunnerLimits limits = new RunnerLimits(Scheduler.maxRows(options), 256, 4, blocks);
        SimRunner runner =
                new SimRunner(Models.spec(), limits, SimOptions.defaults().withMaxInFlight(depth));
        Scheduler scheduler = new Scheduler(options, new KvBlockPool(blocks, 4, true), 256);
        Pipeline pipeline = new Pipeline(0, runner, scheduler, () -> 0, StepObserver.all(List.of()));
        List<Sequence> sequences = new ArrayList<>();
        Random random = new Random(seed);
        for (int i = 0; i < SEQUENCES; i++) {
            int[] prompt = IntStream.range(0, 3 + i).map(at -> at % VOCABULARY).toArray();
            Sequence sequence = new Sequence(
                    i, scheduler, prompt, prompt.length + 5 + 3 * i, SamplingParams.random(), i, new int[0]);
            if (i % 2 == 0) {
                sequence.setMasks(new ParityMasks(random, lateness));
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
    }

    @ParameterizedTest
    @CsvSource({"1, 400", "2, 400", "1, 30", "2, 30"})
    void late_masks_change_no_token(int depth, int blocks) {
        StepTotals prompt = new StepTotals();
        StepTotals late = new StepTotals();
        for (long seed = 0; seed < 200; seed++) {
            List<List<Integer>> expected = run(depth, blocks, 0, seed, prompt);
            assertThat(run(depth, blocks, 6, seed, late)).as("seed %d", seed).isEqualTo(expected);
        }
        assertThat(late.steps).as("steps with late masks").isGreaterThan(prompt.steps);
        assertThat(late.preemptions > 0).as("preempted").isEqualTo(blocks < 100);
    }
}
