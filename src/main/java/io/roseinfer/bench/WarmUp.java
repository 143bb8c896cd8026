package io.roseinfer.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.OptionalDouble;

/**
 * The warm-up before the measured runs.
 *
 * @param runs number of warm-up runs, of which the last may have been ended by the time limit
 * @param seconds their duration
 * @param automatic whether the number of runs followed from their latencies; otherwise it was given
 * @param difference relative difference of the median latencies of the last two complete runs; only of an automatic warm-up
 */
public record WarmUp(
        int runs,
        double seconds,
        boolean automatic,
        @JsonInclude(Include.NON_ABSENT) OptionalDouble difference) {
    /** Difference below which two successive runs are equally fast. */
    static final double STEADY_DIFFERENCE = 0.05;

    /** Returns whether the last two runs were equally fast; false if the warm-up was not automatic. */
    public boolean isSteady() {
        return difference.orElse(1) < STEADY_DIFFERENCE;
    }
}
