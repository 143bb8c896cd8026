package io.roseinfer.bench.compare;

import io.roseinfer.base.Check;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.metrics.Percentiles;
import java.util.Arrays;

/**
 * How one arm stands to another by pairs of runs: the geometric mean of b / a, and where 98 of 100 such experiments would have it,
 * so that of twenty comparisons of equal arms nineteen or all find no difference.
 *
 * <p>Pairs are in blocks of two, measured A B B A, so that a drift of the machine falls on both arms alike; a block has one value, the
 * mean of its pairs' logarithms. The interval is the studentized bootstrap's (Efron and Tibshirani, 1993, chapter 12.5) over blocks:
 * of {@value #RESAMPLES} resamples each has a mean and a standard error of its own, and the quantiles of (mean* − mean) / error* take
 * the place of Student's.
 *
 * @param ratio b / a
 * @param low lower end of the interval
 * @param high upper end
 * @param smallestEffect the smallest change, as a share of a, that so many pairs would find four times in five: half the interval's
 *     width, and what a mean is too low by one time in five
 */
public record PairedRatio(double ratio, double low, double high, double smallestEffect) {
    /** Fewer blocks than this do not say how much they vary. */
    static final int FEWEST_BLOCKS = 5;

    static final int RESAMPLES = 10_000;
    private static final double TAIL = 0.01;
    private static final double POWER = 0.8;

    /**
     * Compares two arms.
     *
     * @param a values of one arm, positive
     * @param b of the other; pair i is a[i] and b[i], and pairs 2k and 2k + 1 are a block
     * @param seed of the resamples
     */
    public static PairedRatio of(double[] a, double[] b, long seed) {
        Check.that(a.length == b.length && a.length % 2 == 0, "pairs that are not in blocks of two");
        Check.that(a.length >= 2 * FEWEST_BLOCKS, "too few pairs");
        double[] blocks = new double[a.length / 2];
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = (Math.log(b[2 * i] / a[2 * i]) + Math.log(b[2 * i + 1] / a[2 * i + 1])) / 2;
        }
        double mean = mean(blocks);
        double error = standardError(blocks, mean);
        double[] pivots = pivots(blocks, mean, seed);
        double high = mean - quantile(pivots, TAIL) * error;
        double low = mean - quantile(pivots, 1 - TAIL) * error;
        return new PairedRatio(
                Math.exp(mean),
                Math.exp(low),
                Math.exp(high),
                Math.expm1((high - low) / 2 + quantile(pivots, POWER) * error));
    }

    /** Whether the interval has 1 in it. */
    public boolean isEven() {
        return low <= 1 && high >= 1;
    }

    private static double[] pivots(double[] blocks, double mean, long seed) {
        double[] pivots = new double[RESAMPLES];
        double[] drawn = new double[blocks.length];
        int kept = 0;
        for (int i = 0; i < RESAMPLES; i++) {
            for (int k = 0; k < drawn.length; k++) {
                drawn[k] = blocks[(int) (SplitMix64.uniform(seed, (long) i * drawn.length + k) * blocks.length)];
            }
            double own = mean(drawn);
            double error = standardError(drawn, own);
            if (error > 0) {
                pivots[kept++] = (own - mean) / error;
            }
        }
        double[] sorted = Arrays.copyOf(pivots, kept);
        Arrays.sort(sorted);
        return sorted;
    }

    private static double quantile(double[] sorted, double share) {
        return sorted.length == 0 ? 0 : Percentiles.of(sorted, 100 * share);
    }

    private static double mean(double... values) {
        return Arrays.stream(values).average().orElse(0);
    }

    private static double standardError(double[] values, double mean) {
        double square = Arrays.stream(values)
                .map(value -> (value - mean) * (value - mean))
                .sum();
        return Math.sqrt(square / (values.length - 1) / values.length);
    }
}
