package io.roseinfer.bench.report;

import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.report.StreamingResult.AcrossAllRuns;
import io.roseinfer.metrics.RequestLatency;
import io.roseinfer.metrics.Summary;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Formats a summary of several runs of the streaming benchmark. Each line is a metric of {@link StreamingReport} as {@code median (least to
 * most)} of the runs' values. Runs without samples of a metric are excluded from its line, and a line without samples is omitted.
 *
 * <pre>
 * === over 3 runs: median (least to most) ===
 * TTFT p50, p99, TPOT p50, p99, ITL p50, p99, Latency p50, p99
 * Throughput (completion,total)
 * </pre>
 */
public final class RunsReport {
    /** The metrics with percentiles, by JSON key. */
    private static final Map<String, Function<RunResult, Summary>> METRICS = metrics();

    private RunsReport() {}

    private static Map<String, Function<RunResult, Summary>> metrics() {
        Map<String, Function<RunResult, Summary>> metrics = new LinkedHashMap<>();
        for (RequestLatency latency : RequestLatency.values()) {
            metrics.put(latency.key(), run -> run.millis(latency));
        }
        metrics.put("host_us", run -> run.hostTime().hostMicros());
        metrics.put("host_exposed_us", run -> run.hostTime().exposedMicros());
        metrics.put("host_wait_us", run -> run.hostTime().waitMicros());
        return metrics;
    }

    /** Returns the summaries of those runs that have samples. */
    private static List<Summary> samples(List<RunResult> runs, Function<RunResult, Summary> metric) {
        return runs.stream().map(metric).filter(sample -> sample.count() > 0).toList();
    }

    private static AcrossRuns over(List<Summary> samples, ToDoubleFunction<Summary> percentile) {
        return AcrossRuns.of(samples.stream().mapToDouble(percentile).toArray());
    }

    /** Returns the summary; empty for a single run. Every line ends with a newline. */
    public static String text(List<RunResult> runs) {
        if (runs.size() < 2) {
            return "";
        }
        StringBuilder out = new StringBuilder("=== over " + runs.size() + " runs: median (least to most) ===\n");
        for (RequestLatency latency : EnumSet.range(RequestLatency.TTFT, RequestLatency.LATENCY)) {
            List<Summary> samples = samples(runs, run -> run.millis(latency));
            if (!samples.isEmpty()) {
                line(out, latency.label() + " p50", over(samples, Summary::p50), latency.unit());
                line(out, latency.label() + " p99", over(samples, Summary::p99), latency.unit());
            }
        }
        line(out, "Throughput (completion,total)", throughput(runs), "tokens/s");
        return out.toString();
    }

    private static void line(StringBuilder out, String label, AcrossRuns value, String unit) {
        out.append(label).append(": ").append(value.text(unit)).append('\n');
    }

    private static AcrossRuns throughput(List<RunResult> runs) {
        return AcrossRuns.of(
                runs.stream().mapToDouble(RunResult::tokensPerSecond).toArray());
    }

    /** Returns the median and range of every metric over at least one run. */
    static AcrossAllRuns overRuns(List<RunResult> runs) {
        Map<String, Map<String, AcrossRuns>> metrics = new LinkedHashMap<>();
        METRICS.forEach((key, metric) -> {
            List<Summary> samples = samples(runs, metric);
            if (!samples.isEmpty()) {
                Map<String, AcrossRuns> percentiles = new LinkedHashMap<>();
                percentiles.put("p50", over(samples, Summary::p50));
                percentiles.put("p95", over(samples, Summary::p95));
                percentiles.put("p99", over(samples, Summary::p99));
                metrics.put(key, percentiles);
            }
        });
        return new AcrossAllRuns(metrics, throughput(runs));
    }
}
