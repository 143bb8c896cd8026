package io.roseinfer.bench.replay;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.ServerStamps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The load of the busiest engine of a run, from the first scheduled time of a request to the last, and the longest texts of its requests. A
 * request counts for its engine from its scheduled time, one without an engine for all in equal parts.
 *
 * @param requests mean number of requests, the largest of all engines
 * @param waiting mean number of requests that wait for admission, the largest of all engines
 * @param promptTokens tokens of the longest prompt
 * @param outputTokens tokens of the longest output
 */
public record EngineLoad(double requests, double waiting, int promptTokens, int outputTokens) {
    /** No load. */
    public static final EngineLoad NONE = new EngineLoad(0, 0, 0, 0);

    /** The load of compared runs covers up to this many times as much; between seeds, it differs by up to 16 %. */
    private static final double MARGIN = 1.5;

    /** Returns the load of a run; 0 requests if all have one time. */
    public static EngineLoad of(LoadResult run, int engines) {
        int promptTokens =
                run.calls().stream().mapToInt(CallResult::inputTokens).max().orElse(0);
        int outputTokens =
                run.calls().stream().mapToInt(CallResult::tokens).max().orElse(0);
        long first = run.calls().stream().mapToLong(EngineLoad::due).min().orElse(0);
        long last = run.calls().stream().mapToLong(EngineLoad::due).max().orElse(0);
        if (last == first) {
            return new EngineLoad(0, 0, promptTokens, outputTokens);
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
        return new EngineLoad((max(requests) + unassigned) / nanos, max(waiting) / nanos, promptTokens, outputTokens);
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
        return new EngineLoad(
                Math.max(requests, other.requests),
                Math.max(waiting, other.waiting),
                Math.max(promptTokens, other.promptTokens),
                Math.max(outputTokens, other.outputTokens));
    }

    /** Returns the numbers larger than in compared runs, in words. */
    List<String> beyond(EngineLoad compared) {
        List<String> words = new ArrayList<>();
        if (requests > MARGIN * compared.requests) {
            words.add(words(
                    "a mean of %.1f requests on an engine (compared runs: up to %.1f)", requests, compared.requests));
        }
        if (waiting > MARGIN * compared.waiting) {
            words.add(words(
                    "a mean of %.1f waiting requests on an engine (compared runs: up to %.1f)",
                    waiting, compared.waiting));
        }
        if (promptTokens > MARGIN * compared.promptTokens) {
            words.add(words("prompts of up to %.0f tokens (compared runs: %.0f)", promptTokens, compared.promptTokens));
        }
        if (outputTokens > MARGIN * compared.outputTokens) {
            words.add(words("outputs of up to %.0f tokens (compared runs: %.0f)", outputTokens, compared.outputTokens));
        }
        return words;
    }

    private static String words(String format, double seen, double compared) {
        return String.format(Locale.ROOT, format, seen, compared);
    }
}
