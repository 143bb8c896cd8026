package io.roseinfer.backend.cuda;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * Adds times measured by the device to the results: the median of an iteration, by name. Benchmarks
 * without device times are unchanged.
 */
public final class DeviceTimes implements InternalProfiler {
    private static final Map<String, List<Double>> MICROS = new LinkedHashMap<>();

    static synchronized void add(String name, double micros) {
        MICROS.computeIfAbsent(name, any -> new ArrayList<>()).add(micros);
    }

    @Override
    public String getDescription() {
        return "Times by the GPU's clock, with the lower bounds set by bytes and arithmetic";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        synchronized (DeviceTimes.class) {
            MICROS.clear();
        }
    }

    @Override
    public Collection<? extends Result> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        List<Result> results = new ArrayList<>();
        synchronized (DeviceTimes.class) {
            MICROS.forEach((name, micros) -> {
                double median = micros.stream()
                        .sorted()
                        .skip(micros.size() / 2)
                        .findFirst()
                        .orElseThrow();
                results.add(new ScalarResult(name, median, "us", AggregationPolicy.AVG));
            });
        }
        return results;
    }
}
