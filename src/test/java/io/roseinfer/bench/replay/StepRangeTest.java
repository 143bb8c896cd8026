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
        assertThat(range).isEqualTo(new StepRange(4, 4, 600, 600, 600, 400, 1000));
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
                        "decode of 4 to 4 rows and up to 1000 KV tokens, other steps of 600 to 600 tokens, contexts up"
                                + " to 400 tokens");
    }

    @Test
    void mixed_steps_have_a_maximum_of_their_own() {
        StepShape mixed = new StepShape(5, 104, 100, 6000, 400);
        StepRange range = StepRange.of(List.of(DECODE, PROMPT, mixed));
        assertThat(range.contains(mixed)).isTrue();
        assertThat(range.contains(new StepShape(5, 105, 101, 6000, 400))).isFalse();
        assertThat(range.contains(PROMPT)).isTrue();
        assertThat(range.words()).contains("other steps of 104 to 600 tokens (104 with decode rows), contexts");
    }

    @Test
    void recording_without_contexts_leaves_them_out() {
        StepRange range = StepRange.of(List.of(new StepShape(4, 4, 0, 0, 0), new StepShape(1, 600, 600, 0, 0)));
        assertThat(range).isEqualTo(new StepRange(4, 4, 600, 600));
        assertThat(range.contains(new StepShape(4, 4, 0, 1L << 40, 1L << 40))).isTrue();
        assertThat(range.words()).isEqualTo("decode of 4 to 4 rows, other steps of 600 to 600 tokens");
    }
}
