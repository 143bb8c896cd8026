package io.roseinfer.metrics;

import io.roseinfer.base.Check;

/**
 * Percentiles as NumPy's default has them: linear interpolation between the two closest ranks at position (n − 1) · p / 100
 * (method 7 of Hyndman and Fan 1996). The one implementation; every percentile roseinfer prints comes from here.
 */
public final class Percentiles {
    private Percentiles() {}

    /**
     * The percentile of a sample that is not empty.
     *
     * @param sorted the sample in ascending order
     * @param percent 0 to 100
     */
    public static double of(double[] sorted, double percent) {
        Check.that(sorted.length > 0, "a percentile of no values");
        Check.that(percent >= 0 && percent <= 100, "a percentile outside 0 to 100");
        double position = (sorted.length - 1) * (percent / 100);
        int below = (int) position;
        int above = Math.min(below + 1, sorted.length - 1);
        return interpolate(sorted[below], sorted[above], position - below);
    }

    /** From the nearer end, as NumPy does it: exact at both ends and monotonic in between. */
    private static double interpolate(double low, double high, double fraction) {
        double step = high - low;
        return fraction < 0.5 ? low + step * fraction : high - step * (1 - fraction);
    }
}
