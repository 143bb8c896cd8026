package io.roseinfer.bench.report;

import io.roseinfer.base.Check;
import io.roseinfer.bench.http.ClientFloor;
import io.roseinfer.bench.http.LatencyTable;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.SchedulerCounts;
import io.roseinfer.bench.http.Verdict;
import io.roseinfer.metrics.Percentiles;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.Summary;
import java.util.Arrays;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The text of {@code roseinfer bench serve}, in the words and the order of {@code vllm bench serve}, with what is this client's own
 * behind it. The documentation has every definition, beside those of other tools.
 */
public final class ServeReport {
    private static final Map<String, String> TITLES = Map.of(
            "ttft", "Time to First Token",
            "tpot", "Time per Output Token (excl. 1st token)",
            "itl", "Inter-token Latency",
            "e2el", "End-to-end Latency");

    private final List<String> metrics;
    private final List<Double> percentiles;
    private final Map<String, Double> goodput;

    /**
     * A report of some metrics.
     *
     * @param metrics of {@code ttft}, {@code tpot}, {@code itl} and {@code e2el}
     * @param percentiles which of them, 0 to 100
     * @param goodput most milliseconds by metric; without one goodput is left out
     */
    public ServeReport(List<String> metrics, List<Double> percentiles, Map<String, Double> goodput) {
        this.metrics = List.copyOf(metrics);
        this.percentiles = List.copyOf(percentiles);
        this.goodput = Map.copyOf(goodput);
        Check.that(TITLES.keySet().containsAll(metrics), "a metric without a title");
    }

    /** The block of one run, every line ended by a newline. */
    public String text(LoadResult run, Verdict verdict, Optional<ClientFloor> floor) {
        Formatter out = new Formatter(Locale.ROOT);
        out.format("============ Serving Benchmark Result ============\n");
        counts(out, run);
        if (!goodput.isEmpty()) {
            double good = Figures.goodRequests(run, goodput) / run.seconds();
            out.format("%-40s %.2f\n", "Request goodput (req/s):", good);
        }
        Map<String, double[]> table = LatencyTable.fromSent(run);
        for (String metric : metrics) {
            latencies(out, metric, TITLES.getOrDefault(metric, metric), table.getOrDefault(metric, new double[0]));
        }
        title(out, "Client");
        LatencyTable.fromDue(run)
                .forEach((metric, values) -> summary(
                        out,
                        metric.startsWith("ttft") ? "TTFT from intended time" : "E2EL from intended time",
                        Summary.of(values)));
        if (run.isScheduled()) {
            summary(out, "Dispatch lag", Summary.of(LatencyTable.lag(run)));
            floor.ifPresent(measured -> summary(out, "Client's floor, lag", measured.lagMillis()));
            if (Double.isFinite(run.achievedRate()) && Double.isFinite(run.scheduledRate())) {
                out.format(
                        "%-40s %.2f of %.2f\n",
                        "Request rate achieved (req/s):", run.achievedRate(), run.scheduledRate());
            }
        }
        out.format(
                "%-40s %.2f cores, %d collections in %d ms, compilers %d ms, longest pause %.3f ms\n",
                "Client process:",
                run.cost().cpuNanos() / 1e9 / run.seconds(),
                run.cost().collections(),
                run.cost().collectionMillis(),
                run.cost().compileMillis(),
                run.cost().pauseNanos() / 1e6);
        floor.ifPresent(measured -> floor(out, measured));
        SchedulerCounts.of(run).ifPresent(counts -> scheduler(out, counts));
        attribution(out, Attribution.of(run));
        verdict.notes().forEach(note -> out.format("Note: %s\n", note));
        out.format("Valid: %s\n", verdict.isValid() ? "yes" : "NO");
        verdict.reasons().forEach(reason -> out.format("Invalid: %s\n", reason));
        verdict.remedies().forEach(remedy -> out.format("To do: %s\n", remedy));
        out.format("==================================================\n");
        return out.toString();
    }

    private static void counts(Formatter out, LoadResult run) {
        double seconds = run.seconds();
        int completed = run.completed().size();
        out.format("%-40s %d\n", "Successful requests:", completed);
        out.format("%-40s %d\n", "Failed requests:", run.calls().size() - completed);
        out.format("%-40s %.2f\n", "Benchmark duration (s):", seconds);
        out.format("%-40s %d\n", "Total input tokens:", run.inputTokens());
        out.format("%-40s %d\n", "Total generated tokens:", run.outputTokens());
        out.format("%-40s %.2f\n", "Request throughput (req/s):", completed / seconds);
        out.format("%-40s %.2f\n", "Output token throughput (tok/s):", run.outputTokens() / seconds);
        out.format(
                "%-40s %.2f\n", "Total Token throughput (tok/s):", (run.inputTokens() + run.outputTokens()) / seconds);
    }

    private void latencies(Formatter out, String metric, String name, double... values) {
        title(out, name);
        String word = metric.toUpperCase(Locale.ROOT);
        if (values.length == 0) {
            out.format("%-40s none\n", word + " (ms):");
            return;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        out.format("%-40s %.2f\n", "Mean " + word + " (ms):", Summary.of(values).mean());
        out.format("%-40s %.2f\n", "Median " + word + " (ms):", Percentiles.of(sorted, 50));
        for (double percentile : percentiles) {
            out.format(
                    "%-40s %.2f\n",
                    "P" + ServeResult.number(percentile) + " " + word + " (ms):", Percentiles.of(sorted, percentile));
        }
    }

    private static void title(Formatter out, String name) {
        int left = Math.max(0, (50 - name.length()) / 2);
        out.format("%s%s%s\n", "-".repeat(left), name, "-".repeat(Math.max(0, 50 - name.length() - left)));
    }

    private static void summary(Formatter out, String label, Summary summary) {
        if (summary.count() == 0) {
            out.format("%-40s none\n", label + " p50/p99/max (ms):");
            return;
        }
        out.format("%-40s %.3f/%.3f/%.3f\n", label + " p50/p99/max (ms):", summary.p50(), summary.p99(), summary.max());
    }

    /** Where the time went, if the server says. */
    private static void attribution(Formatter out, Attribution attribution) {
        parts(out, "Where TTFT from intended time went (ms)", attribution.firstToken());
        parts(out, "Where ITL went (ms)", attribution.gaps());
        if (!attribution.slowest().isEmpty()) {
            FirstToken first = attribution.slowest().getFirst();
            out.format(
                    "Slowest first token: %.3f ms for request %d (%s): %s\n",
                    first.nanos() / 1e6,
                    first.request(),
                    first.promptTokens() < 0 ? "a text" : first.promptTokens() + " prompt tokens",
                    mostOf(first));
        }
        if (attribution.gapsWithoutSteps() > 0) {
            out.format(
                    "Note: the steps of %d gaps are not known, so the table leaves these out\n",
                    attribution.gapsWithoutSteps());
        }
        attribution.longest().stream().findFirst().ifPresent(gap -> longest(out, gap));
    }

    private static void longest(Formatter out, Gap gap) {
        out.format("Longest gap: %.3f ms before token %d of request %d", gap.nanos() / 1e6, gap.token(), gap.request());
        gap.waitedFor()
                .ifPresent(step -> out.format(
                        ", for step %d%s (%d rows, %d prompt tokens, %.3f ms)",
                        step.get(Fact.STEP),
                        step.get(Fact.ENGINE) == 0 ? "" : " of engine " + step.get(Fact.ENGINE),
                        step.get(Fact.ROWS),
                        step.get(Fact.PREFILL_TOKENS),
                        gap.stepNanos() / 1e6));
        out.format("\n");
    }

    /** The parts that took at least a tenth, the longest first. */
    private static String mostOf(FirstToken first) {
        return first.parts().entrySet().stream()
                .filter(part -> part.getValue() > 0 && part.getValue() >= first.nanos() / 10)
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .map(part -> String.format(Locale.ROOT, "%s %.3f", part.getKey(), part.getValue() / 1e6))
                .collect(Collectors.joining(", "));
    }

    private static void parts(Formatter out, String name, PartTable table) {
        if (table.samples() == 0) {
            return;
        }
        title(out, name);
        out.format("%-16s %10s %10s %10s\n", "", "mean", "around p50", "p98 and up");
        for (String part : table.all().keySet()) {
            out.format(
                    "%-16s %10.3f %10.3f %10.3f\n",
                    part.replace('_', '-'),
                    table.all().getOrDefault(part, 0.0),
                    table.median().getOrDefault(part, 0.0),
                    table.tail().getOrDefault(part, 0.0));
        }
        out.format(
                "%-16s %10.3f %10.3f %10.3f\n",
                "together", PartTable.sum(table.all()), PartTable.sum(table.median()), PartTable.sum(table.tail()));
    }

    private static void scheduler(Formatter out, SchedulerCounts counts) {
        title(out, "Scheduler");
        out.format("%-40s %d\n", "Preemptions:", counts.preemptions());
        out.format("%-40s %d\n", "Recomputed tokens:", counts.recomputedTokens());
        out.format(
                "%-40s %d (%.1f %%)\n",
                "Prompt tokens from prefix cache:", counts.cachedTokens(), 100 * counts.cacheHitRate());
    }

    private static void floor(Formatter out, ClientFloor floor) {
        out.format("%-40s %.0f\n", "Client's floor (token events/s):", floor.tokenEventsPerSecond());
        summary(out, "Client's floor, TTFT", floor.ttftMillis());
    }
}
