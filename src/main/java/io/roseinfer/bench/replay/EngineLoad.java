package io.roseinfer.bench.replay;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.ServerStamps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The load of the busiest engine of a run, from the first scheduled time of a request to the last. A request counts for its engine from
 * its scheduled time, one without an engine for all in equal parts.
 *
 * @param requests mean number of requests, the largest of all engines
 * @param waiting mean number of requests that wait for admission, the largest of all engines
 */
public record EngineLoad(double requests, double waiting) {
    /** No load. */
    public static final EngineLoad NONE = new EngineLoad(0, 0);

    /** The load of compared runs covers up to this many times as much; between seeds, it differs by up to 16 %. */
    private static final double MARGIN = 1.5;

    /** Returns the load of a run; none for requests of one time. */
    public static EngineLoad of(LoadResult run, int engines) {
        long first = run.calls().stream().mapToLong(EngineLoad::due).min().orElse(0);
        long last = run.calls().stream().mapToLong(EngineLoad::due).max().orElse(0);
        if (last == first) {
            return NONE;
        }
        double[] requests = new double[engines];
        double[] waiting = new double[engines];
        double unassigned = 0;
        for (CallResult call : run.calls()) {
            double nanos = nanosUntil(last, due(call), call.times().endNanos());
            if (call.server().isEmpty()) {
                unassigned += nanos / engines;
                continue;
            }
            ServerStamps stamps = call.server().get();
            requests[stamps.served().engine()] += nanos;
            waiting[stamps.served().engine()] += nanosUntil(last, call.times().sentNanos(), stamps.admittedNanos());
        }
        double nanos = (double) last - first;
        return new EngineLoad((max(requests) + unassigned) / nanos, max(waiting) / nanos);
    }

    private static double max(double[] values) {
        return Arrays.stream(values).max().orElse(0);
    }

    private static long due(CallResult call) {
        return call.times().dueNanos();
    }

    /** Returns the time between two times up to the last one; 0 if the second is unknown. */
    private static long nanosUntil(long last, long from, long to) {
        return Math.max(from, Math.min(to, last)) - from;
    }

    /** Returns the larger number of two runs of each kind. */
    public EngineLoad max(EngineLoad other) {
        return new EngineLoad(Math.max(requests, other.requests), Math.max(waiting, other.waiting));
    }

    /** Returns the numbers larger than in compared runs, in words. */
    List<String> beyond(EngineLoad compared) {
        List<String> words = new ArrayList<>();
        if (requests > MARGIN * compared.requests) {
            words.add(words("requests", requests, compared.requests));
        }
        if (waiting > MARGIN * compared.waiting) {
            words.add(words("waiting requests", waiting, compared.waiting));
        }
        return words;
    }

    private static String words(String what, double mean, double compared) {
        return String.format(
                Locale.ROOT, "a mean of %.1f %s on an engine (compared runs: up to %.1f)", mean, what, compared);
    }
}
