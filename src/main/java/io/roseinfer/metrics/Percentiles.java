package io.roseinfer.metrics;

import io.roseinfer.base.Check;
import java.util.function.IntToDoubleFunction;

/**
 * Percentiles like NumPy's default: linear interpolation between the two closest ranks at position (n − 1) · p / 100
 * (method 7 of Hyndman and Fan, 1996). Every percentile that roseinfer prints is computed here.
 */
public final class Percentiles {
    private Percentiles() {}

    /**
     * Returns a percentile of a nonempty sample.
     *
     * @param sorted the sample in ascending order
     * @param percent 0 to 100
     */
    public static double of(double[] sorted, double percent) {
        return of(sorted.length, rank -> sorted[rank], percent);
    }

    /**
     * Returns a percentile of a nonempty sample.
     *
     * @param size number of values
     * @param sorted returns the value of a rank, from 0 for the minimum
     * @param percent 0 to 100
     */
    static double of(int size, IntToDoubleFunction sorted, double percent) {
        Check.that(size > 0, "percentile of an empty sample");
        Check.that(percent >= 0 && percent <= 100, "percentile outside 0 to 100");
        double position = (size - 1) * (percent / 100);
        int below = (int) position;
        int above = Math.min(below + 1, size - 1);
        return interpolate(sorted.applyAsDouble(below), sorted.applyAsDouble(above), position - below);
    }

    /** Interpolates from the nearer end, as NumPy does: exact at both ends and monotonic in between. */
    private static double interpolate(double low, double high, double fraction) {
        double step = high - low;
        return fraction < 0.5 ? low + step * fraction : high - step * (1 - fraction);
    }
}
