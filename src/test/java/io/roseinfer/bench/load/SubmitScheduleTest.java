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
    void target_nanos_fraction_of_a_millisecond_does_not_drift_over_many_requests() {
        assertThat(new SubmitSchedule(Mode.ABSOLUTE, 0.1).targetNanos(1_000_003))
                .isEqualTo(100_000_300_000L);
    }

    @Test
    void has_targets_interval_of_zero_is_a_burst_in_any_mode() {
        assertThat(new SubmitSchedule(Mode.ABSOLUTE, 0).hasTargets()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(doubles = {-1, Double.NaN, Double.POSITIVE_INFINITY})
    void new_interval_that_is_no_time_is_refused(double millis) {
        assertThatThrownBy(() -> new SubmitSchedule(Mode.RELATIVE, millis))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("--submit-interval-ms is ");
    }
}
