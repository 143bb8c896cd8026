package io.roseinfer.bench.replay;

import io.roseinfer.base.SplitMix64;

/** How fast the machine is while it works: its own doing, not the policy's. */
@FunctionalInterface
public interface Pace {
    /** Every piece of work takes what it costs. */
    Pace EVEN = (startNanos, costNanos, step) -> startNanos + Math.max(1, Math.round(costNanos));

    /**
     * When a piece of work ends.
     *
     * @param startNanos when it begins, after the run's start
     * @param costNanos how long it takes at an even pace
     * @param step its number
     */
    long endNanos(long startNanos, double costNanos, long step);

    /** Each step slower or faster by a factor of its own, of the log-normal distribution with median 1. */
    static Pace logNormal(double sigma, long seed) {
        return (startNanos, costNanos, step) -> {
            double uniform = SplitMix64.uniform(seed, 2 * step);
            double angle = 2 * Math.PI * SplitMix64.uniform(seed, 2 * step + 1);
            double factor = StrictMath.exp(sigma * Math.sqrt(-2 * StrictMath.log1p(-uniform)) * StrictMath.cos(angle));
            return EVEN.endNanos(startNanos, costNanos * factor, step);
        };
    }

    /** Each step longer or shorter by a recorded difference, drawn by chance. */
    static Pace drawn(double[] differencesNanos, long seed) {
        double[] own = differencesNanos.clone();
        return (startNanos, costNanos, step) -> {
            double difference = own[(int) (SplitMix64.uniform(seed, step) * own.length)];
            return EVEN.endNanos(startNanos, Math.max(costNanos / 2, costNanos + difference), step);
        };
    }

    /**
     * The pace of a recorded run, moment by moment, so that two policies meet the same machine: while a recorded piece of work was under
     * way, work goes on at its cost by the time it took; between them at an even pace. After the last one it begins anew.
     *
     * @param begin when each began, ascending
     * @param end when each ended, not before it began nor after the next began
     * @param costNanos what each would have taken at an even pace
     */
    static Pace held(long[] begin, long[] end, double[] costNanos) {
        return new HeldPace(begin, end, costNanos);
    }
}
