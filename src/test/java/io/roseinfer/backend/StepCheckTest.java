package io.roseinfer.backend;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Check;
import io.roseinfer.base.TokenMask;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import java.lang.foreign.Arena;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Invalid steps are rejected before they reach a device. */
class StepCheckTest {
    private static final int VOCABULARY = 100;
    private static final int CONTEXT = 40;
    private static final int BLOCKS = 10;
    private static final SampleRequest REQUEST = new SampleRequest(SamplingParams.greedy(), 0, TokenHistory.NONE);

    private final StepInputs step = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 100, 16, 0), 8);

    StepCheckTest() {
        step.clear();
    }

    private StepCheckTest row(int position, int[] blocks, int... ids) {
        step.beginRow(position, blocks);
        IntStream.of(ids).forEach(step::addToken);
        step.endRow();
        step.sample(step.tokens() - 1, REQUEST);
        return this;
    }

    private void check(int samplesBefore) {
        ModelSpec spec = SpecBuilder.named("none")
                .vocabulary(VOCABULARY)
                .context(CONTEXT)
                .build();
        new StepCheck(spec, new KvGeometry(16, BLOCKS, 1)).check(step, samplesBefore);
    }

    private void assertRefused(int samplesBefore, String why) {
        assertThatThrownBy(() -> check(samplesBefore))
                .isInstanceOf(Check.Failure.class)
                .hasMessageContaining(why);
    }

    @Test
    void rows_in_range_pass() {
        row(0, new int[] {9}, 0, 99).row(16, new int[] {0, 1}, 5).row(39, new int[] {2, 3, 4}, ~1);
        check(2);
    }

    @Test
    void id_outside_the_vocabulary_is_rejected() {
        row(0, new int[] {0}, 1, VOCABULARY);
        assertRefused(0, "token id 100");
    }

    @Test
    void token_not_sampled_by_the_previous_step_is_rejected() {
        row(3, new int[] {0}, ~2);
        assertRefused(2, "sample of the step before 2");
    }

    @Test
    void block_outside_the_pool_is_rejected() {
        row(16, new int[] {3, BLOCKS}, 1);
        assertRefused(0, "block 10");
    }

    @Test
    void row_longer_than_the_context_is_rejected() {
        row(CONTEXT, new int[] {0, 1, 2}, 1);
        assertRefused(0, "row holds 41 tokens, more than 40");
    }

    @Test
    void sample_outside_its_row_is_rejected() {
        row(0, new int[] {0}, 1, 2);
        step.beginRow(0, new int[] {1});
        step.addToken(3);
        step.endRow();
        step.sample(1, REQUEST);
        assertRefused(0, "sampled token 1 is not in row 1");
    }

    @Test
    void samples_out_of_token_order_are_rejected() {
        row(0, new int[] {0}, 1, 2);
        step.sample(0, REQUEST);
        assertRefused(0, "sampled token 0 does not follow 1");
    }

    @Test
    void sample_beyond_the_limit_is_rejected() {
        row(0, new int[] {0}, 1, 2);
        row(0, new int[] {0}, 1, 2).row(0, new int[] {0}, 1, 2).row(0, new int[] {0}, 1, 2);
        assertThatThrownBy(() -> step.sample(7, REQUEST))
                .isInstanceOf(Check.Failure.class)
                .hasMessageContaining("more samples than its limit");
    }

    @Test
    void mask_of_another_vocabulary_is_rejected() {
        row(0, new int[] {0}, 1);
        step.mask(new TokenMask(VOCABULARY + 1));
        assertRefused(0, "a mask of 101 tokens for a vocabulary of 100");
    }

    @Test
    void bias_outside_the_vocabulary_is_rejected() {
        row(0, new int[] {0}, 1);
        step.bias(VOCABULARY, 1);
        assertRefused(0, "biased token 100");
    }

    @Test
    void bias_that_is_not_a_number_or_positive_infinite_is_rejected() {
        row(0, new int[] {0}, 1);
        step.bias(3, Float.POSITIVE_INFINITY);
        assertRefused(0, "bias 0 of sample 0 is NaN or +∞");
        step.clear();
        row(0, new int[] {0}, 1);
        step.bias(3, Float.NaN);
        assertRefused(0, "bias 0 of sample 0 is NaN or +∞");
    }

    @Test
    void more_biases_than_the_limit_are_rejected() {
        row(0, new int[] {0}, 1);
        for (int i = 0; i < StepInputs.MAX_BIASES; i++) {
            step.bias(3, Float.NEGATIVE_INFINITY);
        }
        assertThatThrownBy(() -> step.bias(3, Float.NEGATIVE_INFINITY))
                .isInstanceOf(Check.Failure.class)
                .hasMessageContaining("more biases than its limit");
    }

    @Test
    void row_without_tokens_is_rejected() {
        row(5, new int[] {0});
        assertRefused(0, "row 0 of 1 has no token");
    }
}
