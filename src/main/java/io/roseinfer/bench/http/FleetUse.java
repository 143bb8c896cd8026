package io.roseinfer.bench.http;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The use of several engines in simulated time. Times are in seconds since the start of the run.
 *
 * @param engineSeconds total time in which engines were in use, with their starts and drains
 * @param engines each engine, by number
 * @param counts numbers of engines, at each change
 */
public record FleetUse(double engineSeconds, List<EngineUse> engines, List<Count> counts) {
    public FleetUse {
        engines = List.copyOf(engines);
        counts = List.copyOf(counts);
    }

    /**
     * The use of one engine.
     *
     * @param usedS time in which it was in use
     * @param busyS time in which its device ran steps
     * @param failedS when it failed; empty if it did not
     * @param requests requests that it ended, or sent to a decode engine
     * @param failed the failed ones among them
     * @param outputTokens tokens that the completed ones got from it
     */
    public record EngineUse(
            int engine,
            double usedS,
            double busyS,
            OptionalDouble failedS,
            int requests,
            int failed,
            long outputTokens,
            long steps) {}

    /** Numbers of engines from a time on. */
    public record Count(double s, int serving, int starting, int draining) {
        /** Returns whether the numbers are the same, at any time. */
        public boolean isLike(Count other) {
            return serving == other.serving && starting == other.starting && draining == other.draining;
        }
    }
}
