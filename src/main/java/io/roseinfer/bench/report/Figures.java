package io.roseinfer.bench.report;

import io.roseinfer.bench.http.LatencyTable;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.metrics.Percentiles;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
        long good = ServeJson.goodRequests(run, bounds);
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

    /** Whether more of a number is better. */
    public static boolean isHigherBetter(String name) {
        return HIGHER.contains(name);
    }
}
