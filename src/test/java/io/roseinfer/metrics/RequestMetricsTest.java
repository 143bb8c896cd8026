package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class RequestMetricsTest {
    private static RequestStamps stamps(
            long start, long end, long tokenized, long admitted, long finish, long... tokens) {
        return new RequestStamps(
                start,
                end,
                new RequestTimeline(start, tokenized, admitted, tokens, finish, new long[tokens.length], 0));
    }

    @Test
    void of_stamps_in_order_splits_the_time_to_first_token() {
        assertThat(RequestMetrics.of(stamps(100, 110, 130, 170, 450, 250, 300, 420)))
                .isEqualTo(new RequestMetrics(10, 20, 40, 80, 150, OptionalDouble.of(85), 350));
    }

    @Test
    void of_tokenized_inside_submit_clamps_tokenize_to_zero() {
        RequestMetrics metrics = RequestMetrics.of(stamps(100, 110, 104, 170, 450, 250));
        assertThat(metrics.tokenizeNanos()).isZero();
        assertThat(metrics.queueWaitNanos()).isEqualTo(66);
    }

    @Test
    void of_one_token_has_no_time_per_output_token() {
        assertThat(RequestMetrics.of(stamps(0, 1, 1, 2, 9, 5)).tpotNanos()).isEmpty();
    }

    @Test
    void of_no_token_takes_the_end_for_the_first_token() {
        RequestMetrics metrics = RequestMetrics.of(stamps(100, 110, 105, 400, 400));
        assertThat(metrics.prefillNanos()).isZero();
        assertThat(metrics.ttftNanos()).isEqualTo(300);
    }

    /** Tokenize + queue wait + prefill = TTFT − add_request, plus exactly what the clamps took. */
    @RepeatedTest(200)
    void of_random_stamps_parts_add_up(RepetitionInfo repetition) {
        long seed = repetition.getCurrentRepetition();
        SplittableRandom random = new SplittableRandom(seed);
        long end = 1_000 + random.nextLong(10_000);
        long tokenized = 1_000 + random.nextLong(20_000);
        long admitted = Math.max(end, tokenized) + random.nextLong(1_000_000);
        long first = admitted + random.nextLong(1_000_000);
        RequestMetrics metrics = RequestMetrics.of(stamps(1_000, end, tokenized, admitted, first + 5, first));
        long parts = metrics.tokenizeNanos() + metrics.queueWaitNanos() + metrics.prefillNanos();
        long clamped = Math.max(0, end - tokenized);
        assertThat(parts - clamped)
                .as("seed %d: %s", seed, metrics)
                .isEqualTo(metrics.ttftNanos() - metrics.addRequestNanos());
    }
}
