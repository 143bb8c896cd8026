package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the range of measured steps. */
class StepRangeTest {
    private static final StepShape DECODE = new StepShape(4, 4, 0, 1000, 400);
    private static final StepShape PROMPT = new StepShape(1, 600, 600, 600 * 601 / 2, 0);

    @Test
    void range_has_the_longest_context_and_the_most_kv_tokens() {
        StepRange range = StepRange.of(List.of(DECODE, PROMPT));
        assertThat(range.contains(DECODE)).isTrue();
        assertThat(range.contains(PROMPT)).isTrue();
        assertThat(range.contains(new StepShape(4, 4, 0, 1001, 400)))
                .as("more KV tokens")
                .isFalse();
        assertThat(range.contains(new StepShape(4, 4, 0, 1000, 401)))
                .as("a longer row")
                .isFalse();
        assertThat(range.contains(new StepShape(1, 600, 600, 600 * 900L, 0)))
                .as("a late chunk")
                .isFalse();
        assertThat(range.words())
                .isEqualTo(
                        "decode of 4 to 4 rows and up to 1000 KV tokens; prompts of 600 to 600 tokens; both together: none;"
                                + " contexts up to 400 tokens");
    }

    @Test
    void steps_of_a_kind_that_was_not_measured_are_outside() {
        StepRange range = StepRange.of(List.of(DECODE, PROMPT));
        assertThat(range.contains(mixed(1, 600, 400))).isFalse();
    }

    private static StepShape mixed(int decodeRows, int prompt, long context) {
        long ofPrompt = prompt * (prompt + 1L) / 2;
        long kvTokens = decodeRows * context;
        return new StepShape(decodeRows + 1, decodeRows + prompt, prompt, ofPrompt + kvTokens, kvTokens, context, 0);
    }

    @Test
    void mixed_steps_have_a_range_of_their_own() {
        StepRange range = StepRange.of(List.of(DECODE, PROMPT, mixed(4, 100, 400)));
        assertThat(range.contains(mixed(4, 100, 400))).isTrue();
        assertThat(range.contains(mixed(4, 101, 400))).as("more tokens").isFalse();
        assertThat(range.contains(mixed(5, 99, 400))).as("more KV tokens").isFalse();
        assertThat(range.contains(PROMPT)).isTrue();
        assertThat(range.words()).contains("both together: 104 to 104 tokens and up to 1600 KV tokens; contexts");
    }

    @Test
    void step_is_within_the_range_only_if_one_measured_step_had_its_tokens_and_its_kv_tokens() {
        StepShape few = new StepShape(2, 2, 0, 2000, 1000);
        StepShape many = new StepShape(64, 64, 0, 500, 1000);
        StepRange range = StepRange.of(List.of(few, many, PROMPT));
        assertThat(range.contains(few)).isTrue();
        assertThat(range.contains(many)).isTrue();
        assertThat(range.contains(new StepShape(64, 64, 0, 2000, 1000))).isFalse();
    }

    @Test
    void many_short_rows_do_not_measure_few_long_ones() {
        StepShape few = new StepShape(40, 40, 0, 40 * 300, 1000);
        StepShape many = new StepShape(256, 256, 0, 256 * 300, 1000);
        StepRange range = StepRange.of(List.of(few, many, PROMPT));
        assertThat(range.contains(new StepShape(40, 40, 0, 40 * 300, 1000))).isTrue();
        assertThat(range.contains(new StepShape(40, 40, 0, 40 * 900, 1000))).isFalse();
    }

    @Test
    void recording_without_contexts_leaves_them_out() {
        StepRange range = StepRange.of(List.of(new StepShape(4, 4, 0, 0, 0), new StepShape(1, 600, 600, 0, 0)));
        assertThat(range.contains(new StepShape(4, 4, 0, 1L << 40, 1L << 40))).isTrue();
        assertThat(range.words()).isEqualTo("decode of 4 to 4 rows; prompts of 600 to 600 tokens; both together: none");
    }
}
