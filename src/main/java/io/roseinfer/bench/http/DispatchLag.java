package io.roseinfer.bench.http;

import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The dispatch lag of a run, and remedies if it is too large.
 *
 * @param lag dispatch lag in milliseconds
 * @param allowedMillis maximum of the 99th percentile
 */
record DispatchLag(Summary lag, double allowedMillis) {
    /** A single request is a stall if its lag exceeds the allowed 99th percentile by this factor. */
    private static final double STALL = 10;

    private static final double SHARE_OF_TTFT = 0.01;

    /** Share of a run's time that the compilers of a warm JVM do not exceed; the compilers of a cold JVM take a quarter or more. */
    private static final double SHARE_OF_COMPILERS = 0.1;

    /**
     * Returns the dispatch lag of a run.
     *
     * @param maxLagMillis lag that is always allowed, as is 1 % of the median time to first token
     */
    static DispatchLag of(LoadResult run, double maxLagMillis) {
        double median = Summary.of(LatencyTable.ttft(run)).p50();
        double allowed = Math.max(maxLagMillis, median * SHARE_OF_TTFT);
        return new DispatchLag(Summary.of(LatencyTable.lag(run)), allowed);
    }

    /**
     * Returns why the run is invalid; empty if the client was on time. An in-process engine pauses with the client, so a pause is then part
     * of its latencies.
     */
    Optional<String> reason(LoadResult run, boolean hasEngine) {
        double pauseMillis = run.cost().pauseNanos() / 1e6;
        if (!hasEngine && pauseMillis > STALL * allowedMillis) {
            return Optional.of(String.format(
                    Locale.ROOT,
                    "the client paused for %.3f ms, so responses were read late; at most %.3f ms are allowed",
                    pauseMillis,
                    STALL * allowedMillis));
        }
        if (!run.isScheduled()) {
            return Optional.empty();
        }
        if (lag.p99() > allowedMillis) {
            return Optional.of(String.format(
                    Locale.ROOT,
                    "the client was late: p99 dispatch lag is %.3f ms; at most %.3f ms are allowed",
                    lag.p99(),
                    allowedMillis));
        }
        return lag.max() > STALL * allowedMillis
                ? Optional.of(String.format(
                        Locale.ROOT,
                        "the client stalled: a request was sent %.3f ms late; at most %.3f ms are allowed",
                        lag.max(),
                        STALL * allowedMillis))
                : Optional.empty();
    }

    /**
     * Returns remedies for a late client, the most promising first.
     *
     * @param hasEngine whether the engine runs in the client's process
     * @param floor the client baseline
     */
    List<String> remedies(LoadResult run, boolean hasEngine, Optional<ClientBaseline> floor) {
        List<String> remedies = new ArrayList<>();
        if (floor.map(alone -> alone.lagMillis().p99() > allowedMillis).orElse(false)) {
            remedies.add("the client baseline is late too: stop other processes, or measure from another machine");
        }
        remedies.add(
                hasEngine
                        ? "leave a core to the client: set --threads below the number of cores, and stop other processes"
                        : "give the client two cores that the server does not use: another machine, or pin both"
                                + " (taskset)");
        if (run.cost().compileMillis() > SHARE_OF_COMPILERS * 1e3 * run.seconds()) {
            remedies.add("the JVM was still compiling: increase --warmup-requests");
        }
        remedies.add("lower --request-rate; or raise --max-dispatch-lag-ms if latencies are far above it");
        return remedies;
    }
}
