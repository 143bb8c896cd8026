package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class RequestLatencyTest {
    private static RequestStamps stamps(
            long start, long end, long tokenized, long admitted, long finish, long... tokens) {
        return new RequestStamps(
                start,
                end,
                new RequestTimeline(start, tokenized, admitted, tokens, finish, new long[tokens.length], 0));
    }

    private static double nanos(RequestLatency latency, RequestStamps stamps) {
        return latency.nanos(stamps)[0];
    }

    private static double parts(RequestStamps stamps) {
        return nanos(RequestLatency.TOKENIZE, stamps)
                + nanos(RequestLatency.QUEUE_WAIT, stamps)
                + nanos(RequestLatency.PREFILL, stamps);
    }

    @Test
    void timestamps_in_order_split_the_time_to_first_token() {
        RequestStamps stamps = stamps(100, 110, 130, 170, 450, 250, 300, 420);
        assertThat(Arrays.stream(RequestLatency.values()).map(latency -> latency.nanos(stamps)))
                .containsExactly(
                        new double[] {10},
                        new double[] {20},
                        new double[] {40},
                        new double[] {80},
                        new double[] {150},
                        new double[] {85},
                        new double[] {50, 120},
                        new double[] {350});
    }

    @Test
    void tokenizing_inside_the_submit_call_counts_as_zero() {
        RequestStamps stamps = stamps(100, 110, 104, 170, 450, 250);
        assertThat(nanos(RequestLatency.TOKENIZE, stamps)).isZero();
        assertThat(nanos(RequestLatency.QUEUE_WAIT, stamps)).isEqualTo(66);
    }

    @Test
    void request_without_tokens_has_its_end_as_first_token_time() {
        RequestStamps stamps = stamps(100, 110, 105, 400, 400);
        assertThat(nanos(RequestLatency.PREFILL, stamps)).isZero();
        assertThat(nanos(RequestLatency.TTFT, stamps)).isEqualTo(300);
    }

    /** Tokenize + queue wait + prefill = TTFT − add_request, plus the clamped amounts. */
    @RepeatedTest(200)
    void components_of_random_timestamps_add_up(RepetitionInfo repetition) {
        long seed = repetition.getCurrentRepetition();
        SplittableRandom random = new SplittableRandom(seed);
        long end = 1_000 + random.nextLong(10_000);
        long tokenized = 1_000 + random.nextLong(20_000);
        long admitted = Math.max(end, tokenized) + random.nextLong(1_000_000);
        long first = admitted + random.nextLong(1_000_000);
        RequestStamps stamps = stamps(1_000, end, tokenized, admitted, first + 5, first);
        assertThat(parts(stamps) - Math.max(0, end - tokenized))
                .as("seed %d: %s", seed, stamps)
                .isEqualTo(nanos(RequestLatency.TTFT, stamps) - nanos(RequestLatency.ADD_REQUEST, stamps));
    }

    @Test
    void inter_token_latencies_of_all_requests_are_pooled() {
        RequestStamps one = stamps(0, 1, 1, 2, 100, 10_000_000, 20_000_000, 60_000_000);
        RequestStamps other = stamps(0, 1, 1, 2, 200, 80_000_000, 90_000_000);
        assertThat(RequestLatency.ITL.millis(List.of(one, other))).isEqualTo(Summary.of(10, 40, 10));
    }

    @Test
    void throughput_is_measured_from_the_first_submit_to_the_last_finish() {
        RequestStamps one = stamps(100_000_000, 1, 1, 2, 600_000_000, 300, 400, 500);
        RequestStamps other = stamps(50_000_000, 1, 1, 2, 550_000_000, 80, 90);
        assertThat(RequestStamps.tokensPerSecond(List.of(one, other))).isCloseTo(5 / 0.550, within(1e-9));
        assertThat(RequestStamps.tokensPerSecond(List.of())).isZero();
    }
}
