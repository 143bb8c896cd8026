package io.roseinfer.bench.compare;

import io.roseinfer.base.Check;
import io.roseinfer.metrics.Percentiles;
import java.util.Arrays;

/**
 * The ratio of two arms by pairs of runs: an estimate of b / a, and an interval that has the true ratio in 98 of 100 such experiments or
 * more, so that of twenty comparisons of equal arms nineteen or all find no difference.
 *
 * <p>Even pairs are measured A B, odd pairs B A. Every even pair is averaged with every odd one, on logarithms, so a steady drift of the
 * machine cancels out. The estimate is the median of these averages (Hodges and Lehmann, 1963). The interval is between two of them, by
 * order, and inverts the rank-sum test of Mann and Whitney. The test assumes no distribution; the rank is that of the normal
 * approximation with its correction for continuity, which is at most the exact one. Runs of a machine are correlated with those just before, which makes
 * the averages of neighbors more alike than the test assumes: the deviation is taken {@value #CORRELATION} times, what the worst correlation of a
 * first-order autoregression asks for.
 *
 * <p>Both ends are averages of two measured ratios, so they are finite. One odd run moves an end only in a comparison of few pairs.
 *
 * @param ratio b / a
 * @param low lower end of the interval
 * @param high upper end
 * @param smallestEffect the smallest change, as a share of a, that this number of pairs would find four times in five: half the
 *     interval's width, and the distance that an estimate falls short by one time in five
 */
public record PairedRatio(double ratio, double low, double high, double smallestEffect) {
    /** With fewer pairs of either order the interval would have to be wider than all averages. */
    static final int MIN_BLOCKS = 5;

    /** The factor of the deviation of estimates for runs that are correlated by about 0.5 with the run before, at which it is largest. */
    private static final double CORRELATION = 1.075;

    /** The normal distribution's quantile of the 1 % that either end may miss, in deviations of independent runs. */
    private static final double TAIL = CORRELATION * 2.3263478740408408;

    /** The same of the 80 % of experiments that are to find an effect. */
    private static final double POWER = 0.8416212335729143;

    public PairedRatio {
        Check.that(
                Double.isFinite(ratio) && Double.isFinite(low) && Double.isFinite(high), "a ratio that is not finite");
    }

    /**
     * Compares two arms.
     *
     * @param a values of one arm, positive
     * @param b of the other; pair i is a[i] and b[i], and pairs 2k and 2k + 1 were measured in opposite orders
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
     * Returns how many of the sorted averages are left out on either side.
     *
     * @param blocks pairs of either order
     */
    static int rank(int blocks) {
        double squared = (double) blocks * blocks;
        double deviation = Math.sqrt(squared * (2 * blocks + 1) / 12);
        return (int) Math.max(0, Math.floor(squared / 2 - TAIL * deviation - 0.5));
    }

    /** Returns whether the interval has 1 in it. */
    public boolean isEven() {
        return low <= 1 && high >= 1;
    }
}
