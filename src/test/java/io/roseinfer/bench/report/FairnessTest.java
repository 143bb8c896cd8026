package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.load.OfferedRequest.Traits;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FairnessTest {
    private static final long MILLI = 1_000_000;

    /** Returns a request of 10 prompt tokens and a token at each time in ms. */
    private static CallResult call(String tenant, int id, long dueMs, long... tokensMs) {
        long dueNanos = dueMs * MILLI;
        long[] nanos = Arrays.stream(tokensMs).map(ms -> ms * MILLI).toArray();
        int[] counts = new int[nanos.length];
        Arrays.fill(counts, 1);
        long endNanos = nanos[nanos.length - 1];
        return new CallResult(
                        id,
                        10,
                        nanos.length,
                        new CallResult.Times(dueNanos, dueNanos, dueNanos, endNanos, endNanos),
                        new CallResult.Arrived(CallResult.Counted.IDS, nanos, counts),
                        new CallResult.Usage(10, nanos.length, 10 + nanos.length),
                        Optional.empty(),
                        Optional.empty())
                .withTraits(Traits.NONE.withTenant(tenant).withSlo("chat"));
    }

    private static LoadResult run(boolean isScheduled, CallResult... calls) {
        return new LoadResult(0, 100 * MILLI, isScheduled, List.of(calls), ClientCost.NONE, Oddities.NONE, List.of());
    }

    @Test
    void jain_index_of_equal_shares_is_1_and_of_one_of_n_is_1_by_n() {
        assertThat(Fairness.jain(new double[] {3, 6}, new double[] {1, 2})).isEqualTo(1);
        assertThat(Fairness.jain(new double[] {5, 0, 0, 0}, new double[] {1, 1, 1, 1}))
                .isEqualTo(0.25);
        assertThat(Fairness.jain(new double[] {0, 0}, new double[] {1, 1})).isEqualTo(1);
    }

    @Test
    void small_demand_is_met_before_the_rest_is_divided() {
        assertThat(Fairness.fairShares(100, new double[] {90, 10, 80})).containsExactly(45, 10, 45);
        assertThat(Fairness.fairShares(30, new double[] {90, 10, 80})).containsExactly(10, 10, 10);
        assertThat(Fairness.fairShares(180, new double[] {90, 10, 80})).containsExactly(90, 10, 80);
    }

    @Test
    void service_is_counted_until_the_last_arrival() {
        Fairness fairness = Fairness.of(
                        run(true, call("a", 0, 0, 5, 6, 7), call("b", 1, 1, 40, 41), call("a", 2, 30, 31, 32, 50)))
                .orElseThrow();
        assertThat(fairness.untilS()).isEqualTo(0.030);
        assertThat(fairness.service()).isEqualTo(Map.of("a", 10.0 + 2 * 3, "b", 0.0));
        assertThat(fairness.jainIndex()).isLessThan(1);
    }

    @Test
    void gap_is_the_service_of_others_while_a_request_waits() {
        Fairness fairness = Fairness.of(
                        run(true, call("a", 0, 0, 1, 2, 3, 4), call("b", 1, 2, 5, 6, 7, 8), call("a", 2, 9, 10)))
                .orElseThrow();
        // After b's arrival at 2 ms, a gets the tokens at 3 and 4 ms; after b's first token nothing of b waits.
        assertThat(fairness.maxServiceGap()).isEqualTo(4);
    }

    @Test
    void service_of_a_burst_is_counted_until_a_tenant_is_done() {
        Fairness fairness = Fairness.of(
                        run(false, call("a", 0, 0, 1, 2), call("b", 1, 0, 2, 3, 4), call("b", 2, 0, 4, 5)))
                .orElseThrow();
        assertThat(fairness.untilS()).isEqualTo(0.002);
        assertThat(fairness.service()).isEqualTo(Map.of("a", 14.0, "b", 12.0));
        assertThat(fairness.jainIndex()).isCloseTo(26 * 26 / (2.0 * (14 * 14 + 12 * 12)), within(1e-12));
    }

    @Test
    void one_tenant_has_no_fairness() {
        assertThat(Fairness.of(run(true, call("a", 0, 0, 1)))).isEmpty();
    }

    @Test
    void groups_have_the_metrics_of_their_requests() {
        LoadResult run = run(true, call("a", 0, 0, 5, 7), call("b", 1, 0, 30, 32), call("b", 2, 0, 10, 12));
        Objectives objectives = new Objectives(Map.of(), Map.of("chat", Map.of("ttft", 20.0)));
        Map<String, Double> metrics = RunMetrics.of(run, objectives);
        assertThat(metrics)
                .containsEntry("requests{tenant=b}", 2.0)
                .containsEntry("median_ttft_ms{tenant=a}", 5.0)
                .containsEntry("median_ttft_ms{tenant=b}", 20.0)
                .containsEntry("good_share{tenant=b}", 0.5)
                .containsEntry("output_throughput{slo=chat}", 60.0)
                .containsKey("jain_index");
        assertThat(metrics.get("good_share")).isEqualTo(metrics.get("good_share{slo=chat}"));
        assertThat(RunMetrics.isHigherBetter("good_share{tenant=b}")).isTrue();
        assertThat(RunMetrics.isHigherBetter("p99_ttft_ms{tenant=b}")).isFalse();
    }

    @Test
    void deadline_bounds_the_latency_of_its_request() {
        CallResult call = call("a", 0, 0, 5, 7);
        CallResult late = call.withTraits(call.traits().withDeadlineMillis(6));
        CallResult inTime = call.withTraits(call.traits().withDeadlineMillis(7));
        assertThat(RunMetrics.of(run(true, late), Objectives.NONE)).containsEntry("good_share", 0.0);
        assertThat(RunMetrics.of(run(true, inTime), Objectives.NONE)).containsEntry("good_share", 1.0);
    }
}
