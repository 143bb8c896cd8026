package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LatencyTable;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.metrics.Percentiles;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * A run in numbers by the names that vLLM's results have for them: {@code mean_}, {@code median_}, {@code p90_} and {@code p99_} with
 * {@code ttft_ms}, {@code tpot_ms}, {@code itl_ms} and {@code e2el_ms}, and per second {@code request_throughput},
 * {@code request_goodput} and {@code output_throughput}. Two are ours: {@code completion_rate}, requests per second from the first to the
 * last ending, which has no idle tail in it, and {@code good_share}, good requests by all that were sent. Where there is no sample there is
 * no number.
 */
public final class Figures {
    /** Numbers of which more is better; of the others it is less. */
    private static final Set<String> HIGHER =
            Set.of("request_throughput", "request_goodput", "output_throughput", "completion_rate", "good_share");

    private static final List<String> LATENCIES = List.of("ttft", "tpot", "itl", "e2el");
    private static final List<String> STATISTICS = List.of("mean", "median", "p90", "p99");

    private Figures() {}

    /** The names of all numbers that a run may have. */
    public static List<String> names() {
        List<String> names = new ArrayList<>();
        for (String latency : LATENCIES) {
            STATISTICS.forEach(statistic -> names.add(statistic + "_" + latency + "_ms"));
        }
        HIGHER.stream().sorted().forEach(names::add);
        return names;
    }

    /**
     * The numbers of a run.
     *
     * @param bounds of a good request, most milliseconds by metric; without one every completed request is good
     */
    public static Map<String, Double> of(LoadResult run, Map<String, Double> bounds) {
        Map<String, Double> figures = new LinkedHashMap<>();
        LatencyTable.fromSent(run).forEach((metric, values) -> {
            if (values.length > 0) {
                double[] sorted = values.clone();
                Arrays.sort(sorted);
                figures.put("mean_" + metric + "_ms", Summary.of(sorted).mean());
                figures.put("median_" + metric + "_ms", Percentiles.of(sorted, 50));
                figures.put("p90_" + metric + "_ms", Percentiles.of(sorted, 90));
                figures.put("p99_" + metric + "_ms", Percentiles.of(sorted, 99));
            }
        });
        long good = goodRequests(run, bounds);
        figures.put("request_throughput", run.completed().size() / run.seconds());
        figures.put("request_goodput", good / run.seconds());
        figures.put("output_throughput", run.outputTokens() / run.seconds());
        double[] ends = run.completed().stream()
                .mapToDouble(call -> call.times().lastChoiceNanos())
                .sorted()
                .toArray();
        if (ends.length > 1 && ends[ends.length - 1] > ends[0]) {
            figures.put("completion_rate", (ends.length - 1) / (ends[ends.length - 1] - ends[0]) * 1e9);
        }
        figures.put("good_share", good / Math.max(1.0, run.calls().size()));
        return figures;
    }

    /**
     * Returns how many completed requests are within every bound, from when they were to be sent: a wait under a bound on concurrency
     * counts. One of a single token is within every TPOT, and one without a token within no TTFT.
     */
    static long goodRequests(LoadResult run, Map<String, Double> bounds) {
        return good(run, bounds, CallResult::ttftFromDueNanos, CallResult::latencyFromDueNanos);
    }

    /** Returns how many are within every bound from when they were sent. */
    static long goodRequestsFromSent(LoadResult run, Map<String, Double> bounds) {
        return good(run, bounds, CallResult::ttftNanos, CallResult::latencyNanos);
    }

    private static long good(
            LoadResult run,
            Map<String, Double> bounds,
            Function<CallResult, OptionalDouble> ttft,
            ToDoubleFunction<CallResult> latency) {
        return run.completed().stream()
                .filter(call -> within(bounds, "ttft", ttft.apply(call).orElse(Double.POSITIVE_INFINITY))
                        && within(bounds, "tpot", call.tokenTimes().tpotNanos().orElse(0))
                        && within(bounds, "e2el", latency.applyAsDouble(call)))
                .count();
    }

    private static boolean within(Map<String, Double> bounds, String metric, double nanos) {
        return nanos <= bounds.getOrDefault(metric, Double.POSITIVE_INFINITY) * 1e6;
    }

    /** Whether more of a number is better. */
    public static boolean isHigherBetter(String name) {
        return HIGHER.contains(name);
    }
}
