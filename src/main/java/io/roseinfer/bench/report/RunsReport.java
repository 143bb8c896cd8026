package io.roseinfer.bench.report;

import io.roseinfer.bench.RunResult;
import io.roseinfer.metrics.LatencySummary;
import io.roseinfer.metrics.Summary;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/**
 * Several runs of the streaming benchmark in one block. Each line is a number that every run has printed, as {@code median (least to
 * most)} of the runs' values; {@link StreamingReport} defines the numbers. A run without a sample of one is left out of its line, and
 * a line that no run has a sample for is left out.
 *
 * <pre>
 * === over 3 runs: median (least to most) ===
 * TTFT p50, p99, TPOT p50, p99, ITL p50, p99, Latency p50, p99
 * Throughput (completion,total)
 * </pre>
 */
public final class RunsReport {
    /** A metric with percentiles; {@code label} is empty if only the JSON has it. */
    private record Metric(String key, String label, String unit, Function<RunResult, Summary> summary) {
        static Metric latency(String key, String label, String unit, Function<LatencySummary, Summary> part) {
            return new Metric(key, label, unit, run -> part.apply(run.latency()));
        }

        private OverRuns over(List<RunResult> runs, ToDoubleFunction<Summary> percentile) {
            return OverRuns.of(summaries(runs).mapToDouble(percentile).toArray());
        }

        private Stream<Summary> summaries(List<RunResult> runs) {
            return runs.stream().map(summary).filter(sample -> sample.count() > 0);
        }

        boolean hasSamples(List<RunResult> runs) {
            return summaries(runs).findAny().isPresent();
        }
    }

    private static final List<Metric> METRICS = List.of(
            Metric.latency("add_request_ms", "", "ms", LatencySummary::addRequestMillis),
            Metric.latency("tokenize_ms", "", "ms", LatencySummary::tokenizeMillis),
            Metric.latency("queue_wait_ms", "", "ms", LatencySummary::queueWaitMillis),
            Metric.latency("prefill_ms", "", "ms", LatencySummary::prefillMillis),
            Metric.latency("ttft_ms", "TTFT", "ms", LatencySummary::ttftMillis),
            Metric.latency("tpot_ms", "TPOT", "ms/token", LatencySummary::tpotMillis),
            Metric.latency("itl_ms", "ITL", "ms", LatencySummary::interTokenMillis),
            Metric.latency("latency_ms", "Latency", "ms", LatencySummary::latencyMillis),
            new Metric("host_us", "", "us", run -> run.hostTime().hostMicros()),
            new Metric("host_exposed_us", "", "us", run -> run.hostTime().exposedMicros()),
            new Metric("host_wait_us", "", "us", run -> run.hostTime().waitMicros()));

    private RunsReport() {}

    /** The block, every line ended by a newline; nothing for a single run, which says it all itself. */
    public static String text(List<RunResult> runs) {
        if (runs.size() < 2) {
            return "";
        }
        StringBuilder out = new StringBuilder("=== over " + runs.size() + " runs: median (least to most) ===\n");
        for (Metric metric : METRICS) {
            if (!metric.label().isEmpty() && metric.hasSamples(runs)) {
                line(out, metric.label() + " p50", metric.over(runs, Summary::p50), metric.unit());
                line(out, metric.label() + " p99", metric.over(runs, Summary::p99), metric.unit());
            }
        }
        line(out, "Throughput (completion,total)", throughput(runs), "tokens/s");
        return out.toString();
    }

    private static void line(StringBuilder out, String label, OverRuns value, String unit) {
        out.append(label).append(": ").append(value.text(unit)).append('\n');
    }

    private static OverRuns throughput(List<RunResult> runs) {
        return OverRuns.of(runs.stream().mapToDouble(RunResult::tokensPerSecond).toArray());
    }

    /** The same of every metric, at least one run; see {@link JsonReport}. */
    static ObjectNode json(List<RunResult> runs) {
        ObjectNode node = JsonParts.object();
        for (Metric metric : METRICS) {
            if (metric.hasSamples(runs)) {
                ObjectNode percentiles = node.putObject(metric.key());
                percentiles.set("p50", JsonParts.overRuns(metric.over(runs, Summary::p50)));
                percentiles.set("p95", JsonParts.overRuns(metric.over(runs, Summary::p95)));
                percentiles.set("p99", JsonParts.overRuns(metric.over(runs, Summary::p99)));
            }
        }
        node.set("throughput_tok_s", JsonParts.overRuns(throughput(runs)));
        return node;
    }
}
