package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.TokenMask;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.sampling.MaskSource;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenConstraints;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FlightTest {
    private static final int VOCABULARY = 100;
    private static final int FORBIDDEN = 8;
    private static final RunnerLimits LIMITS = new RunnerLimits(16, 64, 4, 50).withMaxSamples(32);

    private final SchedulerOptions options = SchedulerOptions.builder()
            .chunkedPrefill(true)
            .prefillMaxTokens(16)
            .prefixCache(false)
            .build();
    private final Scheduler scheduler = new Scheduler(options, new KvBlockPool(50, 4, false), 64);

    /** Allows, for the sample after {@code ahead} likely tokens, only the token of that number. */
    private static final class NumberedMasks implements MaskSource {
        private boolean isReady;

        @Override
        public boolean needsTokens() {
            return true;
        }

        @Override
        public boolean isReady() {
            return isReady;
        }

        @Override
        public void append(int token) {}

        @Override
        public int likelyTokens(int max, int[] into) {
            return 0;
        }

        @Override
        public void apply(int ahead, LogitConstraints.Target target) {
            target.mask(TokenMask.of(VOCABULARY, List.of(ahead)));
        }
    }

    /** Returns a sequence of the prompt tokens 1, 2, … . */
    private Sequence sequence(long id, int promptLength) {
        int[] prompt = IntStream.rangeClosed(1, promptLength).toArray();
        return new Sequence(id, this, prompt, promptLength + 10, SamplingParams.greedy(), 0, new int[0]);
    }

    private Flight packed(StepPlan plan, StepInputs inputs) {
        Flight flight = new Flight(plan, inputs, new StepOutputs(LIMITS.maxSamples()), new WritableStep());
        flight.pack();
        return flight;
    }

    private static StepInputs inputs() {
        return new StepInputs(Arena.ofAuto(), LIMITS, 16);
    }

    @Test
    void masks_and_biases_that_are_set_after_the_pass_are_those_of_the_draw_and_not_of_reports() {
        NumberedMasks masks = new NumberedMasks();
        Sequence sequence = sequence(0, 4).setPromptLogprobs(0);
        sequence.setMasks(masks);
        sequence.setConstraints(
                new LogitConstraints(TokenConstraints.NONE, VOCABULARY, new int[0], List.of(new int[] {FORBIDDEN})));
        scheduler.add(sequence);
        StepInputs inputs = inputs();
        Flight flight = packed(scheduler.plan(scheduler.newPlan()), inputs);
        masks.isReady = true;
        flight.constrain(scheduler);
        assertThat(inputs.samples()).isEqualTo(4);
        for (int report = 0; report < 3; report++) {
            assertThat(inputs.changesLogits(report)).as("report %d", report).isFalse();
        }
        assertThat(inputs.mask(3)).isNotNull().matches(mask -> mask.allows(0));
        assertThat(inputs.biasToken(inputs.biasStart(3))).isEqualTo(FORBIDDEN);
    }

    private static List<String> samples(StepInputs inputs) {
        List<String> rows = new ArrayList<>();
        for (int row = 0; row < inputs.rows(); row++) {
            rows.add("row at " + inputs.rowStart(row) + " of " + inputs.contextLength(row));
        }
        for (int sample = 0; sample < inputs.samples(); sample++) {
            int token = inputs.sampleToken(sample);
            rows.add("sample after " + inputs.tokenId(token) + " at " + token + ", length "
                    + inputs.sampleLength(sample));
        }
        return rows;
    }

    /** A prompt, one whose tokens are reported, one that takes several steps, and their decode rows. */
    @Test
    void inputs_of_shapes_have_the_rows_and_sampled_tokens_of_complete_ones() {
        scheduler.add(sequence(0, 5));
        scheduler.add(sequence(1, 6).setPromptLogprobs(0));
        scheduler.add(sequence(2, 17));
        StepInputs complete = inputs();
        StepInputs shapes = StepInputs.ofShapes(Arena.ofAuto(), LIMITS);
        List<String> all = new ArrayList<>();
        for (int step = 0; step < 3; step++) {
            StepPlan plan = scheduler.plan(scheduler.newPlan());
            packed(plan, complete);
            packed(plan, shapes);
            assertThat(samples(shapes)).as("step %d", step).isEqualTo(samples(complete));
            all.addAll(samples(shapes));
            scheduler.apply(plan, sample -> 50);
        }
        assertThat(all).contains("row at 11 of 5", "sample after 5 at 4, length 5", "sample after 17 at 13, length 17");
    }
}
