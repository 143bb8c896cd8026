package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HostTimeTest {
    /**
     * Returns a step planned in 1 µs, packed in 2, submitted in 3 and applied in 4, with a device phase of
     * {@code deviceMicros}.
     */
    private static StepRecord step(long step, long startMicros, long deviceMicros, int prefillTokens) {
        return StepRecords.step(Map.of(
                Fact.STEP, step,
                Fact.START_NANOS, startMicros * 1_000,
                Fact.PLAN_NANOS, 1_000L,
                Fact.PACK_NANOS, 2_000L,
                Fact.DEVICE_NANOS, deviceMicros * 1_000,
                Fact.APPLY_NANOS, 4_000L,
                Fact.SUBMIT_NANOS, 3_000L,
                Fact.WAIT_NANOS, 50_000L,
                Fact.PREFILL_TOKENS, (long) prefillTokens));
    }

    @Test
    void consecutive_steps_expose_all_host_time() {
        HostTime time = HostTime.of(List.of(step(0, 0, 100, 0), step(1, 110, 100, 0)));
        assertThat(time.hostMicros().p50()).isEqualTo(10);
        assertThat(time.exposedMicros().p50()).as("103 to 116").isEqualTo(13);
        assertThat(time.waitMicros().p50()).isEqualTo(50);
    }

    @Test
    void step_submitted_during_the_previous_one_has_no_exposed_host_time() {
        HostTime time = HostTime.of(List.of(step(0, 0, 100, 0), step(1, 20, 200, 0)));
        assertThat(time.exposedMicros().max()).isZero();
    }

    @Test
    void steps_with_prompts_or_after_a_gap_are_left_out() {
        HostTime time = HostTime.of(
                List.of(step(0, 0, 100, 7), step(1, 110, 100, 0), step(3, 400, 100, 0), step(4, 600, 100, 0)));
        assertThat(time.hostMicros().count()).isEqualTo(1);
        assertThat(HostTime.of(List.of()).hostMicros().count()).isZero();
    }
}
