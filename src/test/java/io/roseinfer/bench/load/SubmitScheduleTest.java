package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.SubmitSchedule.Mode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubmitScheduleTest {
    @Test
    void targetNanos_fractionOfAMillisecond_doesNotDriftOverManyRequests() {
        assertThat(new SubmitSchedule(Mode.ABSOLUTE, 0.1).targetNanos(1_000_003))
                .isEqualTo(100_000_300_000L);
    }

    @Test
    void hasTargets_intervalOfZero_isABurstInAnyMode() {
        assertThat(new SubmitSchedule(Mode.ABSOLUTE, 0).hasTargets()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(doubles = {-1, Double.NaN, Double.POSITIVE_INFINITY})
    void new_intervalThatIsNoTime_isRefused(double millis) {
        assertThatThrownBy(() -> new SubmitSchedule(Mode.RELATIVE, millis))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("--submit-interval-ms is ");
    }
}
