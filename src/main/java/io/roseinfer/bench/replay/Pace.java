package io.roseinfer.bench.replay;

import io.roseinfer.base.SplitMix64;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Variations of the machine's speed, independent of the scheduler. */
@FunctionalInterface
public interface Pace {
    /** Minimum number of recorded steps among which {@link #resampled} chooses. */
    int MIN_LIKE = 32;

    /** The pace at which all work takes exactly its cost. */
    Pace EVEN = (startNanos, costNanos, step) -> startNanos + Math.max(1, Math.round(costNanos));

    /**
     * Returns the end time of a piece of work.
     *
     * @param startNanos start time since the run's start
     * @param costNanos duration at normal pace
     * @param step number of the step
     */
    long endNanos(long startNanos, double costNanos, long step);

    /** Returns a pace that multiplies each step by a random log-normal factor of mean 1: the logarithm is normal with mean -sigma²/2. */
    static Pace logNormal(double sigma, long seed) {
        return (startNanos, costNanos, step) -> {
            double uniform = SplitMix64.uniform(seed, 2 * step);
            double angle = 2 * Math.PI * SplitMix64.uniform(seed, 2 * step + 1);
            double normal = Math.sqrt(-2 * StrictMath.log1p(-uniform)) * StrictMath.cos(angle);
            double factor = StrictMath.exp(sigma * (normal - sigma / 2));
            return EVEN.endNanos(startNanos, costNanos * factor, step);
        };
    }

    /**
     * Returns a pace that multiplies each step by the ratio of duration and cost of a randomly chosen recorded step of like cost: one of a
     * hundredth of all, and at least {@value #MIN_LIKE}.
     *
     * @param costNanos cost of each recorded step
     * @param nanos duration of each
     */
    static Pace resampled(double[] costNanos, double[] nanos, long seed) {
        int[] order = IntStream.range(0, costNanos.length)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> costNanos[i]))
                .mapToInt(Integer::intValue)
                .toArray();
        double[] costs = Arrays.stream(order).mapToDouble(i -> costNanos[i]).toArray();
        double[] ratios =
                Arrays.stream(order).mapToDouble(i -> nanos[i] / costNanos[i]).toArray();
        int like = Math.min(costs.length, Math.max(MIN_LIKE, costs.length / 100));
        return (startNanos, cost, step) -> {
            int place = Arrays.binarySearch(costs, cost);
            int first = Math.clamp((place < 0 ? -place - 1 : place) - like / 2, 0, costs.length - like);
            double ratio = ratios[first + (int) (SplitMix64.uniform(seed, step) * like)];
            return EVEN.endNanos(startNanos, cost * ratio, step);
        };
    }

    /**
     * Returns the pace of a recorded run over time, so that different policies run on an equally fast machine. During a recorded piece of
     * work the speed is its cost divided by its duration; between them it is normal. After the last one the recording repeats.
     *
     * @param begin start of each piece of work, ascending
     * @param end end of each, not before its start or after the next start
     * @param costNanos duration of each at normal pace
     */
    static Pace recorded(long[] begin, long[] end, double[] costNanos) {
        return new RecordedPace(begin, end, costNanos);
    }
}
