package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LatencyTable;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.SchedulerCounts;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * The metrics of a run, by vLLM's names: {@code mean_}, {@code median_}, {@code p90_} and {@code p99_} with {@code ttft_ms},
 * {@code tpot_ms}, {@code itl_ms} and {@code e2el_ms}, and per second {@code request_throughput}, {@code request_goodput} and
 * {@code output_throughput}. Additional metrics are {@code completion_rate}, requests per second from the first completion to the last
 * (without an idle tail), {@code mean_} and {@code max_normalized_ms}, the latency since the request's scheduled time divided by its output tokens,
 * as in the papers of Orca and vLLM (its maximum is the slowdown of the worst served request, up to the time of a token alone), and {@code good_share}, good requests divided by all requests. Engines with known steps also have
 * {@code preemptions}, {@code recomputed_tokens}, {@code forced_admissions} and {@code cache_hit_rate} of {@link SchedulerCounts}. Loads with
 * tenants or classes also have the metrics of {@link GroupResults}, as in {@code p99_ttft_ms{tenant=a}}, and with several tenants
 * {@code jain_index} and {@code max_service_gap} of {@link Fairness}. Simulated fleets have {@code engine_seconds}. Metrics without samples
 * are absent.
 */
public final class RunMetrics {
    /** Requests per second within all bounds; absent without bounds. */
    public static final String REQUEST_GOODPUT = "request_goodput";

    /** The share of requests within all bounds, 0 to 1; absent without bounds. */
    public static final String GOOD_SHARE = "good_share";

    /** Metrics for which higher is better; for the others, lower is better. */
    private static final Set<String> HIGHER = Set.of(
            "request_throughput",
            REQUEST_GOODPUT,
            "output_throughput",
            "completion_rate",
            GOOD_SHARE,
            "cache_hit_rate",
            GroupResults.JAIN_INDEX);

    /** The number of admissions that the limit of passes forced. */
    public static final String FORCED_ADMISSIONS = "forced_admissions";

    /** The number of failed requests of a run in a comparison. */
    public static final String FAILED_REQUESTS = "failed_requests";

    private static final String ENGINE_SECONDS = "engine_seconds";

    private static final List<String> LATENCIES = List.of("ttft", "tpot", "itl", "e2el");
    private static final List<String> STATISTICS = List.of("mean", "median", "p90", "p99");

    private RunMetrics() {}

    /**
     * Returns the names of all metrics that runs of a load may have.
     *
     * @param percentiles further percentiles of latencies, 0 to 100
     */
    public static List<String> names(OfferedLoad load, List<Double> percentiles) {
        List<String> names = new ArrayList<>();
        for (String latency : LATENCIES) {
            STATISTICS.forEach(statistic -> names.add(statistic + "_" + latency + "_ms"));
            percentiles.stream()
                    .map(percentile -> percentile(percentile, latency))
                    .filter(name -> !names.contains(name))
                    .forEach(names::add);
        }
        names.addAll(List.of("mean_normalized_ms", "max_normalized_ms"));
        HIGHER.stream()
                .filter(name -> !name.equals(GroupResults.JAIN_INDEX))
                .sorted()
                .forEach(names::add);
        names.addAll(List.of("preemptions", "recomputed_tokens", FORCED_ADMISSIONS, ENGINE_SECONDS, FAILED_REQUESTS));
        names.addAll(GroupResults.names(load.turns().map(OfferedRequest::traits).toList()));
        return names;
    }

    /** Returns the name of a percentile of {@code ttft}, {@code tpot}, {@code itl} or {@code e2el}, as in {@code p99_ttft_ms}. */
    public static String percentile(double percentile, String latency) {
        return "p" + ServeResult.number(percentile) + "_" + latency + "_ms";
    }

    /** Returns whether a metric is one of some percentiles of a latency of all requests. */
    public static boolean isPercentile(String name, List<Double> percentiles) {
        return LATENCIES.stream()
                .anyMatch(latency -> percentiles.stream().anyMatch(each -> name.equals(percentile(each, latency))));
    }

    /** Returns the metrics of a run without further percentiles. */
    public static Map<String, Double> of(LoadResult run, Objectives objectives) {
        return of(run, objectives, List.of());
    }

    /**
     * Returns the metrics of a run.
     *
     * @param objectives bounds of good requests
     * @param percentiles further percentiles of the latencies of all requests, 0 to 100
     */
    public static Map<String, Double> of(LoadResult run, Objectives objectives, List<Double> percentiles) {
        Map<String, Double> metrics = ofAll(run, objectives, percentiles);
        GroupResults.of(run, objectives, List.of()).ifPresent(groups -> metrics.putAll(groups.metrics()));
        return metrics;
    }

    /** Returns the metrics over all requests. */
    static Map<String, Double> ofAll(LoadResult run, Objectives objectives, List<Double> percentiles) {
        Map<String, Double> metrics = new LinkedHashMap<>();
        LatencyTable.fromSent(run).forEach((metric, values) -> {
            if (values.size() > 0) {
                metrics.put("mean_" + metric + "_ms", values.mean());
                metrics.put("median_" + metric + "_ms", values.percentile(50));
                metrics.put("p90_" + metric + "_ms", values.percentile(90));
                metrics.put("p99_" + metric + "_ms", values.percentile(99));
                percentiles.forEach(each -> metrics.put(percentile(each, metric), values.percentile(each)));
            }
        });
        double[] normalized = run.completed().stream()
                .filter(call -> call.tokens() > 0)
                .mapToDouble(call -> call.latencyFromDueNanos() / 1e6 / call.tokens())
                .toArray();
        if (normalized.length > 0) {
            Summary summary = Summary.of(normalized);
            metrics.put("mean_normalized_ms", summary.mean());
            metrics.put("max_normalized_ms", summary.max());
        }
        boolean hasBounds = objectives.applyTo(run);
        long good = goodRequests(run, objectives);
        metrics.put("request_throughput", run.completed().size() / run.seconds());
        if (hasBounds) {
            metrics.put(REQUEST_GOODPUT, good / run.seconds());
        }
        metrics.put("output_throughput", run.outputTokens() / run.seconds());
        double[] ends = run.completed().stream()
                .mapToDouble(call -> call.times().lastChoiceNanos())
                .sorted()
                .toArray();
        if (ends.length > 1 && ends[ends.length - 1] > ends[0]) {
            metrics.put("completion_rate", (ends.length - 1) / (ends[ends.length - 1] - ends[0]) * 1e9);
        }
        if (hasBounds) {
            metrics.put(GOOD_SHARE, good / Math.max(1.0, run.calls().size()));
        }
        SchedulerCounts.of(run).ifPresent(counts -> {
            metrics.put("preemptions", (double) counts.preemptions());
            metrics.put("recomputed_tokens", (double) counts.recomputedTokens());
            metrics.put(FORCED_ADMISSIONS, (double) counts.forcedAdmissions());
            metrics.put("cache_hit_rate", counts.cacheHitRate());
        });
        run.fleet().ifPresent(fleet -> metrics.put(ENGINE_SECONDS, fleet.engineSeconds()));
        return metrics;
    }

    /**
     * Returns the number of completed requests within all bounds since their scheduled times, including waits for a concurrency limit. A request
     * with a single token meets every TPOT bound, and one without a token no TTFT bound.
     */
    static long goodRequests(LoadResult run, Objectives objectives) {
        return good(run, objectives, CallResult::ttftFromDueNanos, CallResult::latencyFromDueNanos);
    }

    /** Returns the number of completed requests within all bounds since they were sent. */
    static long goodRequestsFromSent(LoadResult run, Objectives objectives) {
        return good(run, objectives, CallResult::ttftNanos, CallResult::latencyNanos);
    }

    private static long good(
            LoadResult run,
            Objectives objectives,
            Function<CallResult, OptionalDouble> ttft,
            ToDoubleFunction<CallResult> latency) {
        return run.completed().stream()
                .filter(call -> ttft.apply(call).orElse(Double.POSITIVE_INFINITY) <= objectives.nanos(call, "ttft")
                        && call.tokenTimes().tpotNanos().orElse(0) <= objectives.nanos(call, "tpot")
                        && latency.applyAsDouble(call) <= objectives.nanos(call, "e2el"))
                .count();
    }

    /** Returns whether higher is better for a metric, also of a group. */
    public static boolean isHigherBetter(String name) {
        return HIGHER.contains(name.replaceFirst("\\{.*", ""));
    }
}
