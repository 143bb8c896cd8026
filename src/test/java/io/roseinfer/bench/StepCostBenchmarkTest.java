package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.bench.report.StepCostReport;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepRecords;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StepCostBenchmarkTest {
    private static List<StepCost> run(boolean chunkedPrefill, List<Integer> running, List<Integer> waiting) {
        return run(chunkedPrefill, AdmissionPolicy.fifo(), running, waiting);
    }

    private static List<StepCost> run(
            boolean chunkedPrefill, AdmissionPolicy policy, List<Integer> running, List<Integer> waiting) {
        AtomicLong now = new AtomicLong();
        Clock ticking = () -> now.addAndGet(1_000);
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .prefillMaxBatchSize(3)
                        .chunkedPrefill(chunkedPrefill)
                        .admission(policy)
                        .build());
        List<StepCost> costs = new ArrayList<>();
        new StepCostBenchmark(
                        (spec, limits) -> new SimRunner(
                                spec, limits, SimOptions.defaults().withReadBack(false)),
                        options,
                        10,
                        ticking)
                .run(running, waiting, costs::add);
        return costs;
    }

    /** The clock advances by 1 µs per reading, so every phase takes 1 µs. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void every_combination_is_measured_over_all_its_steps(boolean chunkedPrefill) {
        List<StepCost> costs = run(chunkedPrefill, List.of(1, 20), List.of(0, 50));
        assertThat(costs).extracting(StepCost::running).containsExactly(1, 1, 20, 20);
        assertThat(costs).extracting(StepCost::waiting).containsExactly(0, 50, 0, 50);
        assertThat(costs).allSatisfy(cost -> {
            assertThat(cost.totalMicros().count()).isEqualTo(10);
            assertThat(cost.planMicros().p50()).isEqualTo(1);
            assertThat(cost.totalMicros().max()).isEqualTo(3);
            assertThat(cost.stepsPerSecond()).isEqualTo(1e6 / 3);
        });
    }

    /** First-come first-served policy that counts its calls. */
    private static final class Counting implements AdmissionPolicy {
        private long asked;

        @Override
        public int lookahead() {
            return 8;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            asked++;
            return 0;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void admission_policy_ranks_waiting_requests_in_every_measured_step(boolean chunkedPrefill) {
        Counting alone = new Counting();
        run(chunkedPrefill, alone, List.of(20), List.of(0));
        Counting queued = new Counting();
        run(chunkedPrefill, queued, List.of(20), List.of(50));
        assertThat(queued.asked - alone.asked).isGreaterThanOrEqualTo(10L * queued.lookahead());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void admission_is_timed_only_if_requests_wait(boolean chunkedPrefill) {
        List<StepCost> costs = run(chunkedPrefill, List.of(1, 20), List.of(0, 1, 50));
        assertThat(costs).extracting(cost -> cost.admitMicros().count()).containsExactly(0, 10, 10, 0, 10, 10);
        assertThat(costs).extracting(cost -> cost.admitMicros().max()).containsOnly(0.0, 3.0);
    }

    @Test
    void step_cost_excludes_device_time() {
        StepRecord step = StepRecords.step(Map.of(
                Fact.PLAN_NANOS,
                2_000L,
                Fact.PACK_NANOS,
                3_000L,
                Fact.DEVICE_NANOS,
                900_000L,
                Fact.APPLY_NANOS,
                5_000L));
        StepCost cost = StepCost.of(8, 0, List.of(step), List.of());
        assertThat(cost.totalMicros().p50()).isEqualTo(10);
        assertThat(StepCostReport.row(cost))
                .isEqualTo(
                        "       8        0      2.00      3.00      5.00     10.00     10.00     100000         -\n");
    }
}
