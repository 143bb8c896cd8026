package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.OfferedRequest.Traits;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The results of a run by tenant and by class of requests: the metrics of {@link #METRICS}, each over the requests of the group. Metrics
 * without samples are absent.
 *
 * @param tenants metrics of each tenant, by name
 * @param slos metrics of each class, by name
 * @param fairness fairness between the tenants, if there are several
 */
@JsonInclude(JsonInclude.Include.NON_ABSENT)
public record GroupResults(
        Map<String, Map<String, Double>> tenants, Map<String, Map<String, Double>> slos, Optional<Fairness> fairness) {
    /** The metrics of a group, with the names and meanings of {@link RunMetrics}; {@code requests} includes failed ones. */
    static final List<String> METRICS = List.of(
            "requests",
            "median_ttft_ms",
            "p99_ttft_ms",
            "median_tpot_ms",
            "p99_tpot_ms",
            "median_e2el_ms",
            "p99_e2el_ms",
            "max_normalized_ms",
            "output_throughput",
            "good_share");

    /** Metrics of fairness. */
    static final String JAIN_INDEX = "jain_index";

    static final String MAX_SERVICE_GAP = "max_service_gap";

    /**
     * Returns the results of a run; empty if its requests have neither tenants nor classes.
     *
     * @param named tenants that are in the results even without a request
     */
    static Optional<GroupResults> of(LoadResult run, Objectives objectives, List<String> named) {
        GroupResults groups = new GroupResults(
                by(run, Traits::tenant, objectives, named),
                by(run, Traits::slo, objectives, List.of()),
                Fairness.of(run));
        return groups.tenants.isEmpty() && groups.slos.isEmpty() ? Optional.empty() : Optional.of(groups);
    }

    private static Map<String, Map<String, Double>> by(
            LoadResult run, Function<Traits, Optional<String>> group, Objectives objectives, List<String> named) {
        Map<String, List<CallResult>> calls = new TreeMap<>();
        named.forEach(name -> calls.put(name, new ArrayList<>()));
        run.calls()
                .forEach(call -> group.apply(call.traits())
                        .ifPresent(name -> calls.computeIfAbsent(name, key -> new ArrayList<>())
                                .add(call)));
        Map<String, Map<String, Double>> results = new LinkedHashMap<>();
        calls.forEach((name, own) -> {
            Map<String, Double> metrics = new LinkedHashMap<>();
            metrics.put("requests", (double) own.size());
            Map<String, Double> all = own.isEmpty()
                    ? Map.of("output_throughput", 0.0)
                    : RunMetrics.ofAll(run.withCalls(own), objectives, List.of());
            METRICS.stream().filter(all::containsKey).forEach(metric -> metrics.put(metric, all.get(metric)));
            results.put(name, metrics);
        });
        return results;
    }

    /** Returns the metrics by name, as in {@code p99_ttft_ms{tenant=a}}. */
    Map<String, Double> metrics() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        tenants.forEach(
                (name, own) -> own.forEach((metric, value) -> metrics.put(label(metric, "tenant", name), value)));
        slos.forEach((name, own) -> own.forEach((metric, value) -> metrics.put(label(metric, "slo", name), value)));
        fairness.ifPresent(measured -> {
            metrics.put(JAIN_INDEX, measured.jainIndex());
            metrics.put(MAX_SERVICE_GAP, measured.maxServiceGap());
        });
        return metrics;
    }

    /** Returns the names of the metrics that runs of requests with these traits may have. */
    static Set<String> names(List<Traits> requests) {
        Set<String> names = new LinkedHashSet<>();
        List<String> tenants = requests.stream()
                .flatMap(traits -> traits.tenant().stream())
                .distinct()
                .sorted()
                .toList();
        Stream<String> slos = requests.stream()
                .flatMap(traits -> traits.slo().stream())
                .distinct()
                .sorted();
        tenants.forEach(name -> METRICS.forEach(metric -> names.add(label(metric, "tenant", name))));
        slos.forEach(name -> METRICS.forEach(metric -> names.add(label(metric, "slo", name))));
        if (tenants.size() > 1) {
            names.addAll(List.of(JAIN_INDEX, MAX_SERVICE_GAP));
        }
        return names;
    }

    private static String label(String metric, String kind, String name) {
        return metric + "{" + kind + "=" + name + "}";
    }
}
