package io.roseinfer.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class HostTimeTest {
    /** A step planned in 1 µs, packed in 2, handed over in 3, taken in in 4; the device's phase lasts {@code deviceMicros}. */
    private static StepRecord step(long step, long startMicros, long deviceMicros, int prefillTokens) {
        return new StepRecord(
                step,
                startMicros * 1_000,
                1_000,
                2_000,
                deviceMicros * 1_000,
                4_000,
                3_000,
                50_000,
                prefillTokens,
                1,
                0,
                1,
                9,
                0,
                0);
    }

    @Test
    void of_stepsOneAfterTheOther_exposesEverything() {
        HostTime time = HostTime.of(List.of(step(0, 0, 100, 0), step(1, 110, 100, 0)));
        assertThat(time.hostMicros().p50()).isEqualTo(10);
        assertThat(time.exposedMicros().p50()).as("103 to 116").isEqualTo(13);
        assertThat(time.waitMicros().p50()).isEqualTo(50);
    }

    @Test
    void of_stepHandedOverWhileTheOneBeforeRan_exposesNothing() {
        HostTime time = HostTime.of(List.of(step(0, 0, 100, 0), step(1, 20, 200, 0)));
        assertThat(time.exposedMicros().max()).isZero();
    }

    @Test
    void of_stepsWithPrompts_orWithAGapBefore_areLeftOut() {
        HostTime time = HostTime.of(
                List.of(step(0, 0, 100, 7), step(1, 110, 100, 0), step(3, 400, 100, 0), step(4, 600, 100, 0)));
        assertThat(time.hostMicros().count()).isEqualTo(1);
        assertThat(HostTime.of(List.of()).hostMicros().count()).isZero();
    }
}
