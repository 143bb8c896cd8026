package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The objectives of a run: the bounds that good requests are within.
 *
 * @param goodput bounds in milliseconds by metric, {@code ttft}, {@code tpot} or {@code e2el}, of requests whose class is not in {@code slos}
 * @param slos bounds of each class of requests
 */
public record Objectives(
        Map<String, Double> goodput,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, Map<String, Double>> slos) {
    /** No bounds: every completed request is good. */
    public static final Objectives NONE = new Objectives(Map.of(), Map.of());

    public Objectives {
        goodput = Collections.unmodifiableMap(new LinkedHashMap<>(goodput));
        slos = Collections.unmodifiableMap(new LinkedHashMap<>(slos));
    }

    /** Returns objectives with the same bounds for all requests. */
    public static Objectives ofAll(Map<String, Double> goodput) {
        return new Objectives(goodput, Map.of());
    }

    public boolean isEmpty() {
        return goodput.isEmpty() && slos.isEmpty();
    }

    /** Returns whether there are bounds, or a request of a run has a deadline. */
    boolean applyTo(LoadResult run) {
        return !isEmpty()
                || run.calls().stream()
                        .anyMatch(call -> call.traits().deadlineMillis().isPresent());
    }

    /** Returns the bound of a request in nanoseconds, infinite without one; its deadline is a bound of {@code e2el}. */
    double nanos(CallResult call, String metric) {
        Map<String, Double> bounds = call.traits()
                .slo()
                .map(name -> slos.getOrDefault(name, goodput))
                .orElse(goodput);
        double millis = bounds.getOrDefault(metric, Double.POSITIVE_INFINITY);
        boolean bounded =
                metric.equals("e2el") && call.traits().deadlineMillis().isPresent();
        return 1e6 * (bounded ? Math.min(millis, call.traits().deadlineMillis().getAsDouble()) : millis);
    }
}
