package io.roseinfer.bench.http;

import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Whether a run's numbers count.
 *
 * @param reasons why they do not; empty if they do
 * @param notes what a reader should know although they do
 */
public record Verdict(List<String> reasons, List<String> notes) {
    /** A stall is a single request that was this many times later than the 99th percentile may be. */
    private static final double STALL = 10;

    private static final double SHARE_OF_TTFT = 0.01;

    public Verdict {
        reasons = List.copyOf(reasons);
        notes = List.copyOf(notes);
    }

    public boolean isValid() {
        return reasons.isEmpty();
    }

    /**
     * Judges a run. It is invalid if the client was late, if the server's counts contradict what came, or if nothing completed. A rate
     * that was not reached needs no rule of its own: on an absolute schedule it is a lag that grows.
     *
     * @param mostLagMillis how late the 99th percentile of the requests may have been sent; a hundredth of the median time to first
     *     token is allowed in any case
     * @param ignoresEos whether every completion must be as long as was asked for
     */
    public static Verdict of(LoadResult run, double mostLagMillis, boolean ignoresEos) {
        List<String> reasons = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        List<CallResult> completed = run.completed();
        if (completed.isEmpty()) {
            reasons.add("no request was answered to its end" + firstError(run.calls()));
        }
        lateness(run, mostLagMillis, reasons);
        List<String> wrong = completed.stream()
                .flatMap(call -> UsageCheck.contradiction(call, ignoresEos).stream())
                .toList();
        if (!wrong.isEmpty()) {
            reasons.add("the server's counts are wrong for " + wrong.size() + " of " + completed.size() + " requests: "
                    + wrong.getFirst());
        }
        notes(run, completed, notes);
        return new Verdict(reasons, notes);
    }

    private static void lateness(LoadResult run, double mostLagMillis, List<String> reasons) {
        if (!run.isScheduled()) {
            return;
        }
        double[] ttft = LatencyTable.fromSent(run).getOrDefault("ttft", new double[0]);
        double allowed = Math.max(mostLagMillis, Summary.of(ttft).p50() * SHARE_OF_TTFT);
        Summary lag = Summary.of(LatencyTable.lag(run));
        if (lag.p99() > allowed) {
            reasons.add(String.format(
                    Locale.ROOT,
                    "the client was late: p99 of the dispatch lag is %.3f ms; %.3f ms are allowed",
                    lag.p99(),
                    allowed));
        } else if (lag.max() > STALL * allowed) {
            reasons.add(String.format(
                    Locale.ROOT,
                    "the client stalled: a request was sent %.3f ms late; %.3f ms are allowed",
                    lag.max(),
                    STALL * allowed));
        }
    }

    private static void notes(LoadResult run, List<CallResult> completed, List<String> notes) {
        List<CallResult> failed =
                run.calls().stream().filter(call -> !call.isComplete()).toList();
        if (!failed.isEmpty()) {
            notes.add(failed.size() + " of " + run.calls().size() + " requests failed" + firstError(failed));
        }
        long held = run.calls().stream().filter(call -> call.heldNanos() > 0).count();
        if (held > 0) {
            notes.add(held + " requests waited in the client for a place under --max-concurrency: TTFT and E2EL begin"
                    + " behind that wait, those from the intended time before it");
        }
        long uncounted = completed.stream()
                .filter(call -> call.arrivals().counted() == CallResult.Counted.NOT)
                .count();
        if (uncounted > 0) {
            notes.add(
                    "ITL leaves " + uncounted + " requests out: the server does not say how many tokens an event has");
        }
        if (run.openedLate() > 0) {
            notes.add(run.openedLate() + " connections were opened while requests were due; that time is in their lag");
        }
    }

    /** Why the first of them failed, to follow upon what came of it. */
    private static String firstError(List<CallResult> calls) {
        return calls.stream()
                .flatMap(call -> call.error().stream())
                .findFirst()
                .map(why -> ", the first one because " + why)
                .orElse("");
    }
}
