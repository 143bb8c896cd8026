package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class LatencySummaryTest {
    private static final long MS = 1_000_000;

    private static RequestStamps request(long startMs, long finishMs, long... tokenMs) {
        long[] tokens = new long[tokenMs.length];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = tokenMs[i] * MS;
        }
        long submitted = startMs * MS;
        return new RequestStamps(
                submitted,
                submitted + MS,
                new RequestTimeline(
                        submitted, submitted, submitted + 2 * MS, tokens, finishMs * MS, new long[tokens.length], 0));
    }

    @Test
    void of_two_requests_pools_the_gaps_of_both() {
        LatencySummary summary = LatencySummary.of(List.of(request(0, 100, 10, 20, 60), request(50, 200, 80, 90)));
        assertThat(summary.interTokenMillis()).isEqualTo(Summary.of(10, 40, 10));
    }

    @Test
    void of_request_with_one_token_leaves_it_out_of_tpot() {
        LatencySummary summary = LatencySummary.of(List.of(request(0, 100, 10, 20, 60), request(50, 200, 80)));
        assertThat(summary.tpotMillis()).isEqualTo(Summary.of(25));
    }

    @Test
    void of_two_requests_counts_tokens_from_the_first_submit_to_the_last_finish() {
        List<RequestStamps> requests = List.of(request(100, 600, 300, 400, 500), request(50, 550, 80, 90));
        assertThat(LatencySummary.tokensPerSecond(requests)).isCloseTo(5 / 0.550, within(1e-9));
    }

    @Test
    void of_no_requests_is_empty() {
        LatencySummary summary = LatencySummary.of(List.of());
        assertThat(summary.ttftMillis().count()).isZero();
        assertThat(LatencySummary.tokensPerSecond(List.of())).isZero();
    }
}
