package io.roseinfer.bench.compare;

import io.roseinfer.base.Check;
import io.roseinfer.metrics.Percentiles;
import java.util.Arrays;

/**
 * The ratio of two arms by pairs of runs: an estimate of b / a, and an interval that contains the true ratio in at least 98 of 100 such
 * experiments.
 *
 * <p>Even pairs are measured A B, odd pairs B A. Every even pair is averaged with every odd pair in the logarithm, so a steady drift of the
 * machine cancels out. The estimate is the median of these averages (Hodges and Lehmann, 1963). The interval lies between two of the sorted
 * averages and inverts the rank-sum test of Mann and Whitney, which assumes no distribution. The rank is that of the normal approximation
 * with continuity correction, which is at most the exact one. Consecutive runs on a machine are correlated, which the test does not assume,
 * so the deviation is multiplied by {@value #CORRELATION}: the factor for the worst correlation of a first-order autoregression.
 *
 * <p>Both ends are averages of two measured ratios, so they are finite. A single outlier moves an end only if there are few pairs.
 *
 * @param ratio b / a
 * @param low lower end of the interval
 * @param high upper end
 * @param smallestEffect the smallest increase, as a share of a, that this number of pairs detects with a power of 80 %: half the
 *     interval's width, plus the deviation that an estimate exceeds in one of five cases
 */
public record PairedRatio(double ratio, double low, double high, double smallestEffect) {
    /** Minimum pairs of each order; with fewer, the interval would be wider than all averages. */
    static final int MIN_BLOCKS = 5;

    /** Factor of the estimates' deviation if runs are correlated by about 0.5 with the previous run, where it is largest. */
    private static final double CORRELATION = 1.075;

    /** Normal quantile for 1 % beyond each end, in deviations of independent runs. */
    private static final double TAIL = CORRELATION * 2.3263478740408408;

    /** Normal quantile for a power of 80 %. */
    private static final double POWER = 0.8416212335729143;

    public PairedRatio {
        Check.that(
                Double.isFinite(ratio) && Double.isFinite(low) && Double.isFinite(high), "a ratio that is not finite");
    }

    /**
     * Compares two arms.
     *
     * @param a positive values of arm A
     * @param b positive values of arm B; pair i is a[i] and b[i], and pairs 2k and 2k + 1 were measured in opposite orders
     */
    public static PairedRatio of(double[] a, double[] b) {
        Check.that(a.length == b.length && a.length % 2 == 0, "pairs that are not in blocks of two");
        Check.that(a.length >= 2 * MIN_BLOCKS, "too few pairs");
        double[] averages = averages(a, b);
        int rank = rank(a.length / 2);
        double low = averages[rank];
        double high = averages[averages.length - 1 - rank];
        return new PairedRatio(
                Math.exp(Percentiles.of(averages, 50)),
                Math.exp(low),
                Math.exp(high),
                Math.expm1((high - low) / 2 * (1 + POWER / TAIL)));
    }

    /** Returns the smallest decrease with the power of {@link #smallestEffect}, as a share of a: the inverse of that ratio. */
    public double smallestDecrease() {
        return smallestEffect / (1 + smallestEffect);
    }

    private static double[] averages(double[] a, double[] b) {
        int blocks = a.length / 2;
        double[] averages = new double[blocks * blocks];
        for (int even = 0; even < blocks; even++) {
            for (int odd = 0; odd < blocks; odd++) {
                averages[even * blocks + odd] =
                        (Math.log(b[2 * even] / a[2 * even]) + Math.log(b[2 * odd + 1] / a[2 * odd + 1])) / 2;
            }
        }
        Arrays.sort(averages);
        return averages;
    }

    /**
     * Returns the number of sorted averages outside of the interval on either side.
     *
     * @param blocks pairs of each order
     */
    static int rank(int blocks) {
        double squared = (double) blocks * blocks;
        double deviation = Math.sqrt(squared * (2 * blocks + 1) / 12);
        return (int) Math.max(0, Math.floor(squared / 2 - TAIL * deviation - 0.5));
    }

    /** Returns whether the interval contains 1. */
    public boolean isEven() {
        return low <= 1 && high >= 1;
    }
}
