package io.roseinfer.bench.replay;

import io.roseinfer.base.SplitMix64;

/** Variations of the machine's speed, independent of the scheduler. */
@FunctionalInterface
public interface Pace {
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

    /** Returns a pace that adds a randomly chosen recorded deviation to each step. */
    static Pace resampled(double[] differencesNanos, long seed) {
        double[] own = differencesNanos.clone();
        return (startNanos, costNanos, step) -> {
            double difference = own[(int) (SplitMix64.uniform(seed, step) * own.length)];
            return EVEN.endNanos(startNanos, Math.max(costNanos / 2, costNanos + difference), step);
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
