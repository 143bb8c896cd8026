package io.roseinfer.bench.report;

import io.roseinfer.base.Check;
import io.roseinfer.bench.http.ClientBaseline;
import io.roseinfer.bench.http.FleetUse;
import io.roseinfer.bench.http.GrammarTimes;
import io.roseinfer.bench.http.RunValidity;
import io.roseinfer.bench.http.SchedulerCounts;
import io.roseinfer.bench.http.Speculation;
import io.roseinfer.metrics.Summary;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Formats the results of {@code roseinfer bench serve}: the lines of {@code vllm bench serve} in their order, then additional ones. Every
 * number is also in the result file; the documentation defines them.
 */
public final class ServeReport {
    /** A line whose value has a key of vLLM. */
    private record Line(String label, String key, String format) {}

    private static final List<Line> TOTALS = List.of(
            new Line("Successful requests:", "completed", "%d"),
            new Line("Failed requests:", "failed", "%d"),
            new Line("Benchmark duration (s):", "duration", "%.2f"),
            new Line("Total input tokens:", "total_input_tokens", "%d"),
            new Line("Total generated tokens:", "total_output_tokens", "%d"),
            new Line("Request throughput (req/s):", "request_throughput", "%.2f"),
            new Line("Output token throughput (tok/s):", "output_throughput", "%.2f"),
            new Line("Total Token throughput (tok/s):", "total_token_throughput", "%.2f"),
            new Line("Request goodput (req/s):", "request_goodput", "%.2f"));

    private static final Map<String, String> TITLES = Map.of(
            "ttft", "Time to First Token",
            "tpot", "Time per Output Token (excl. 1st token)",
            "itl", "Inter-token Latency",
            "e2el", "End-to-end Latency");

    private final List<String> metrics;
    private final List<Double> percentiles;

    /**
     * Creates a report.
     *
     * @param metrics the latencies to print, of {@code ttft}, {@code tpot}, {@code itl} and {@code e2el}
     * @param percentiles the percentiles to print, of those in the results, 0 to 100
     */
    public ServeReport(List<String> metrics, List<Double> percentiles) {
        this.metrics = List.copyOf(metrics);
        this.percentiles = List.copyOf(percentiles);
        Check.that(TITLES.keySet().containsAll(metrics), "a metric without a title");
    }

    /** Returns the report of one run. Every line ends with a newline. */
    public String text(ServeResult result) {
        Formatter out = new Formatter(Locale.ROOT);
        out.format("============ Serving Benchmark Result ============\n");
        TOTALS.forEach(line -> line(out, result, line));
        metrics.forEach(metric -> latencies(out, result, metric));
        client(out, result);
        result.roseinfer().scheduler().ifPresent(counts -> scheduler(out, counts));
        result.roseinfer().speculation().ifPresent(drafts -> speculation(out, drafts));
        result.roseinfer().grammars().ifPresent(times -> grammars(out, times));
        result.roseinfer().groups().ifPresent(groups -> groups(out, groups));
        result.roseinfer().fleet().ifPresent(fleet -> fleet(out, fleet));
        attribution(out, result);
        SettingsLine.of(result.roseinfer().settings()).ifPresent(line -> out.format("Settings: %s\n", line));
        RunValidity verdict = result.roseinfer().validity();
        verdict.notes().forEach(note -> out.format("Note: %s\n", note));
        out.format("Valid: %s%s\n", verdict.isValid() ? "yes" : "NO", verdict.muchExtrapolated());
        verdict.reasons().forEach(reason -> out.format("Invalid: %s\n", reason));
        verdict.remedies().forEach(remedy -> out.format("Hint: %s\n", remedy));
        out.format("==================================================\n");
        return out.toString();
    }

    /** Prints a line, if the results have its value. */
    private static void line(Formatter out, ServeResult result, Line line) {
        if (result.vllm().get(line.key()) instanceof Number number) {
            out.format("%-40s " + line.format() + "\n", line.label(), number);
        }
    }

    private void latencies(Formatter out, ServeResult result, String metric) {
        title(out, TITLES.getOrDefault(metric, metric));
        String word = metric.toUpperCase(Locale.ROOT) + " (ms):";
        String key = "_" + metric + "_ms";
        if (result.vllm().get("mean" + key) == null) {
            out.format("%-40s none\n", word);
            return;
        }
        line(out, result, new Line("Mean " + word, "mean" + key, "%.2f"));
        line(out, result, new Line("Median " + word, "median" + key, "%.2f"));
        for (double percentile : percentiles) {
            String number = ServeResult.number(percentile);
            line(out, result, new Line("P" + number + " " + word, "p" + number + key, "%.2f"));
        }
    }

    private static void client(Formatter out, ServeResult result) {
        ServeResult.Own own = result.roseinfer();
        title(out, "Client");
        summary(out, "TTFT from scheduled time", own.ttftIntendedMillis());
        summary(out, "E2EL from scheduled time", own.e2elIntendedMillis());
        if (own.load().scheduled()) {
            own.dispatchLagMillis().ifPresent(lag -> summary(out, "Dispatch lag", lag));
            own.floor().ifPresent(measured -> summary(out, "Client baseline, lag", measured.lagMillis()));
            if (own.load().achievedRate() instanceof Double achieved
                    && own.load().scheduledRate() instanceof Double scheduled) {
                out.format("%-40s %.2f of %.2f\n", "Request rate achieved (req/s):", achieved, scheduled);
            }
        }
        own.client()
                .ifPresent(client -> out.format(
                        "%-40s %.2f cores, %d collections in %d ms, compilers %d ms, longest pause %.3f ms\n",
                        "Client process:",
                        client.cpuS() / result.seconds(),
                        client.gcCount(),
                        client.gcMillis(),
                        client.compileMillis(),
                        client.longestPauseMillis()));
        own.floor().ifPresent(measured -> floor(out, measured));
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

    /** Prints the latency breakdown, if the server sent timestamps. */
    private static void attribution(Formatter out, ServeResult result) {
        ServeResult.Own own = result.roseinfer();
        own.ttftParts().ifPresent(parts -> parts(out, "Where TTFT from scheduled time went (ms)", parts));
        own.itlParts().ifPresent(parts -> parts(out, "Where ITL went (ms)", parts));
        result.slowestFirstToken()
                .ifPresent(request -> out.format(
                        "Slowest first token: %.3f ms for request %d (%s): %s\n",
                        request.ttftMillis(),
                        request.id(),
                        request.promptTokens() < 0 ? "a text" : request.promptTokens() + " prompt tokens",
                        mostOf(request)));
        if (own.gapsWithoutSteps() > 0) {
            out.format("Note: the table excludes %d gaps whose steps are unknown\n", own.gapsWithoutSteps());
        }
        own.longestGaps().stream().findFirst().ifPresent(gap -> longest(out, gap));
    }

    private static void longest(Formatter out, ServeResult.LongGap gap) {
        out.format("Longest gap: %.3f ms before token %d of request %d", gap.millis(), gap.token(), gap.request());
        if (gap.step().isPresent()) {
            long engine = gap.engine().orElse(0);
            out.format(
                    ", for step %d%s (%d rows, %d prompt tokens, %.3f ms)",
                    gap.step().getAsLong(),
                    engine == 0 ? "" : " of engine " + engine,
                    gap.rows().orElse(0),
                    gap.prefillTokens().orElse(0),
                    gap.stepMillis().orElse(0));
        }
        out.format("\n");
    }

    /** Returns the parts with at least a tenth of the time, the longest first. */
    private static String mostOf(ServeResult.Request request) {
        return request.ttftParts().orElse(Map.of()).entrySet().stream()
                .filter(part -> part.getValue() > 0 && part.getValue() >= request.ttftMillis() / 10)
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .map(part -> String.format(Locale.ROOT, "%s %.3f", part.getKey(), part.getValue()))
                .collect(Collectors.joining(", "));
    }

    private static void parts(Formatter out, String name, BreakdownTable table) {
        title(out, name);
        out.format("%-16s %10s %10s %10s\n", "", "mean", "around p50", "p98 and up");
        for (String part : table.all().keySet()) {
            out.format(
                    "%-16s %10s %10s %10s\n",
                    part.replace('_', '-'),
                    BreakdownTable.millis(table.all().getOrDefault(part, 0.0)),
                    BreakdownTable.millis(table.median().getOrDefault(part, 0.0)),
                    BreakdownTable.millis(table.tail().getOrDefault(part, 0.0)));
        }
        out.format(
                "%-16s %10.3f %10.3f %10.3f\n",
                "total",
                BreakdownTable.sum(table.all()),
                BreakdownTable.sum(table.median()),
                BreakdownTable.sum(table.tail()));
    }

    private static void scheduler(Formatter out, SchedulerCounts counts) {
        title(out, "Scheduler");
        out.format("%-40s %d\n", "Preemptions:", counts.preemptions());
        out.format("%-40s %d\n", "Recomputed tokens:", counts.recomputedTokens());
        out.format(
                "%-40s %d (%.1f %%)\n",
                "Prompt tokens from prefix cache:", counts.cachedTokens(), 100 * counts.cacheHitRate());
    }

    private static void speculation(Formatter out, Speculation drafts) {
        title(out, "Speculative Decoding");
        out.format("%-40s %.2f\n", "Acceptance rate (%):", 100 * drafts.acceptanceRate());
        out.format("%-40s %.2f\n", "Acceptance length:", drafts.acceptanceLength());
        out.format("%-40s %d\n", "Drafts:", drafts.drafts());
        out.format("%-40s %d\n", "Draft tokens:", drafts.draftTokens());
        out.format("%-40s %d\n", "Accepted tokens:", drafts.acceptedTokens());
        String positions = drafts.acceptedTokensPerPos().stream()
                .map(rows -> String.format(Locale.ROOT, "%.2f", 100.0 * rows / drafts.drafts()))
                .collect(Collectors.joining(" "));
        out.format("%-40s %s\n", "Per-position acceptance (%):", positions);
    }

    private static void grammars(Formatter out, GrammarTimes times) {
        title(out, "Grammars");
        Summary compile = times.compileMillis();
        out.format("%-40s %d\n", "Restricted requests:", compile.count());
        out.format("%-40s %.3f\n", "Mean compile time (ms):", compile.mean());
        summary(out, "Compile time", compile);
        Summary mask = times.maskMicros();
        out.format("%-40s %d\n", "Masks after the first:", mask.count());
        if (mask.count() > 0) {
            out.format("%-40s %.1f/%.1f\n", "Time per mask mean/p99 (us):", mask.mean(), mask.p99());
        }
    }

    private static void groups(Formatter out, GroupResults groups) {
        title(out, "Tenants and Classes");
        out.format(
                "%-20s %8s %19s %19s %19s %12s %9s %7s %10s\n",
                "",
                "requests",
                "TTFT p50/p99 (ms)",
                "TPOT p50/p99 (ms)",
                "E2EL p50/p99 (ms)",
                "max ms/token",
                "tokens/s",
                "good %",
                "service");
        Map<String, Double> service = groups.fairness().map(Fairness::service).orElse(Map.of());
        groups.tenants().forEach((name, metrics) -> group(out, "tenant " + name, metrics, service.get(name)));
        groups.slos().forEach((name, metrics) -> group(out, "class " + name, metrics, null));
        groups.fairness().ifPresent(fairness -> {
            out.format(
                    "%-40s %.4f until %.3f s\n",
                    "Jain's index of service by share:", fairness.jainIndex(), fairness.untilS());
            out.format(
                    "%-40s %.0f (%.0f per prompt token, %.0f per output token)\n",
                    "Maximum gap in service:",
                    fairness.maxServiceGap(),
                    fairness.inputWeight(),
                    fairness.outputWeight());
        });
    }

    private static void group(Formatter out, String name, Map<String, Double> metrics, @Nullable Double service) {
        Double good = metrics.get(RunMetrics.GOOD_SHARE);
        out.format(
                "%-20s %8.0f %19s %19s %19s %12.2f %9.2f %7s %10s\n",
                name,
                metrics.getOrDefault("requests", 0.0),
                pair(metrics, "ttft_ms"),
                pair(metrics, "tpot_ms"),
                pair(metrics, "e2el_ms"),
                metrics.getOrDefault("max_normalized_ms", 0.0),
                metrics.getOrDefault("output_throughput", 0.0),
                good == null ? "–" : String.format(Locale.ROOT, "%.1f", 100 * good),
                service == null ? "" : String.format(Locale.ROOT, "%.0f", service));
    }

    private static String pair(Map<String, Double> metrics, String metric) {
        Double median = metrics.get("median_" + metric);
        Double tail = metrics.get("p99_" + metric);
        return median == null || tail == null ? "none" : String.format(Locale.ROOT, "%.2f/%.2f", median, tail);
    }

    private static void fleet(Formatter out, FleetUse fleet) {
        title(out, "Engines");
        out.format(
                "%-20s %8s %8s %13s %10s %11s %8s %9s\n",
                "", "requests", "failed", "output tokens", "steps", "tokens/step", "busy %", "used (s)");
        for (FleetUse.EngineUse each : fleet.engines()) {
            out.format(
                    "%-20s %8d %8d %13d %10d %11.1f %8.1f %9.2f\n",
                    "engine " + each.engine(),
                    each.requests(),
                    each.failed(),
                    each.outputTokens(),
                    each.steps(),
                    each.outputTokens() / Math.max(1.0, (double) each.steps()),
                    each.usedS() == 0 ? 0 : 100 * each.busyS() / each.usedS(),
                    each.usedS());
        }
        out.format("%-40s %.2f\n", "Engine seconds:", fleet.engineSeconds());
        out.format(
                "%-40s %d to %d\n",
                "Engines that serve:",
                fleet.counts().stream().mapToInt(FleetUse.Count::serving).min().orElse(0),
                fleet.counts().stream().mapToInt(FleetUse.Count::serving).max().orElse(0));
    }

    private static void floor(Formatter out, ClientBaseline floor) {
        out.format("%-40s %.0f\n", "Client baseline (token events/s):", floor.tokenEventsPerSecond());
        summary(out, "Client baseline, TTFT", floor.ttftMillis());
    }
}
