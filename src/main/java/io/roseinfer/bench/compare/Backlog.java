package io.roseinfer.bench.compare;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import java.util.Comparator;
import java.util.List;

/**
 * The growth of a run's backlog while requests arrive, and whether the run is long enough to separate growth from its start and from chance.
 *
 * @param growth mean number of requests in flight in the last quarter of the arrivals less that in the second, divided by the requests that
 *     arrive in half of the run. A request is in flight from its scheduled time until it has ended
 * @param needed number of requests that the load needs for this; at most the number that it has if it is long enough
 */
record Backlog(double growth, long needed) {
    /** Maximum growth of a system that keeps up. */
    static final double KEEPS_UP = 0.05;

    /** Number of first requests, which find an empty system. Their median latency is the time until the system is full. */
    private static final int FIRST = 20;

    /** Minimum duration of the arrivals in latencies of the first requests, so that the system is full in the second quarter. */
    private static final double LATENCIES = 8;

    /**
     * Minimum growth, in standard deviations of a Poisson process with the same mean number in flight. It is more than the usual two, because
     * bursts also lengthen latencies.
     */
    private static final double DEVIATIONS = 5;

    /** Returns the backlog of a run with scheduled times and at least one request. */
    static Backlog of(LoadResult run) {
        List<CallResult> calls = run.calls().stream()
                .sorted(Comparator.comparingLong(call -> call.times().dueNanos()))
                .toList();
        long first = calls.getFirst().times().dueNanos();
        double quarter = (calls.getLast().times().dueNanos() - first) / 4.0;
        double before = inFlight(calls, first + quarter, quarter);
        double after = inFlight(calls, first + 3 * quarter, quarter);
        double growth = (after - before) / (calls.size() / 2.0);
        double deviation = DEVIATIONS * Math.sqrt(before + after);
        double[] latencies = calls.stream()
                .limit(FIRST)
                .mapToDouble(call -> end(call) - call.times().dueNanos())
                .sorted()
                .toArray();
        double toFill = LATENCIES * latencies[latencies.length / 2] / (4 * quarter) * calls.size();
        double forChance = after - before > deviation ? 0 : deviation / (KEEPS_UP / 2);
        return new Backlog(growth, (long) Math.ceil(Math.max(toFill, forChance)));
    }

    private static long end(CallResult call) {
        return call.isComplete() ? call.times().lastChoiceNanos() : call.times().endNanos();
    }

    private static double inFlight(List<CallResult> calls, double from, double length) {
        double sum = 0;
        for (CallResult call : calls) {
            double due = call.times().dueNanos();
            double end = end(call);
            sum += Math.max(0, Math.min(end, from + length) - Math.max(due, from));
        }
        return sum / length;
    }
}
