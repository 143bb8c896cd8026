package io.roseinfer.bench.report.html;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.report.BenchResult;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.ResultJson;
import io.roseinfer.metrics.Summary;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** One page of one or more runs: whether they count, what they measured, how it came about, and what the words mean. */
public final class HtmlReport {
    private static final int STYLES = 6;

    /** That of sweeps and comparisons; runs have a lower one. */
    private static final int MAX_SCHEMA = 2;

    private static final Map<String, String> DEFINITIONS = definitions();

    private final List<ShownRun> runs = new ArrayList<>();
    private final StringBuilder studies = new StringBuilder();
    private final StringBuilder steps = new StringBuilder();
    private boolean hasParts;

    private HtmlReport() {}

    /** Adds what a file has. */
    private void add(String name, JsonNode document) {
        int schema = document.path("roseinfer").path("schema").asInt(0);
        if (schema > MAX_SCHEMA) {
            throw new BadInput("its schema is " + schema + ", and this version reads up to " + MAX_SCHEMA
                    + "; use the version that wrote it");
        }
        switch (document.path("roseinfer").path("kind").asString("")) {
            case "sweep" -> studies.append(new SweepSection(name, document).markup());
            case "ab" -> studies.append(new AbSection(name, document).markup());
            default -> {
                if (StepSection.shows(document)) {
                    steps.append(StepSection.markup(name, document));
                    return;
                }
                runs.addAll(ResultDocument.of(name, document));
                studies.append(
                        ReplaySection.markup(name, document.path("roseinfer").path("replay_of")));
                hasParts |= PartsSection.shows(document.path("roseinfer"));
                studies.append(PartsSection.markup(name, document.path("roseinfer")));
            }
        }
    }

    /**
     * The page of some results files.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if one of them is none
     */
    public static String of(List<Path> files) {
        HtmlReport report = new HtmlReport();
        for (Path file : files) {
            JsonNode document = ResultFile.read(file);
            try {
                report.add(file.getFileName().toString().replaceFirst("\\.json.*$", ""), document);
            } catch (JacksonException | IndexOutOfBoundsException wrong) {
                throw new BadInput(
                        FileFailure.shown(file) + " is not as a benchmark writes it: " + wrong.getMessage()
                                + "; measure again, or undo the change",
                        wrong);
            } catch (BadInput wrong) {
                throw new BadInput(FileFailure.shown(file) + ": " + wrong.getMessage(), wrong);
            }
        }
        return report.page();
    }

    /** The page of some results. */
    public static String of(String name, BenchResult result) {
        return of(name, ResultJson.tree(result));
    }

    /** The page of one results file's content. */
    static String of(String name, JsonNode document) {
        HtmlReport report = new HtmlReport();
        report.add(name, document);
        return report.page();
    }

    private static Map<String, String> definitions() {
        Map<String, String> words = new LinkedHashMap<>();
        words.put(
                "TTFT",
                "time to first token: from just before the request's first byte was written (bench serve) or the submit call"
                        + " began (bench streaming) until its first token was there");
        words.put(
                "TTFT, intended",
                "the same from when the request was to be sent: a client that is late cannot hide it");
        words.put(
                "TPOT",
                "time per output token: (last token - first token) / (tokens - 1), for each request of two tokens or more");
        words.put(
                "ITL",
                "inter-token latency: every gap between two tokens of a request, all requests pooled; a gap before an event"
                        + " of k tokens is k gaps of a k-th");
        words.put(
                "Tokens per second",
                "if a server says only how many tokens a request had in all, they are spread evenly over its events");
        words.put("Latency", "from the same start as TTFT until the last event of the completion");
        words.put(
                "Waiting, streaming",
                "requests that were sent and have no token yet; requests that have one and are not over");
        words.put(
                "Queue, prefill, tokens",
                "of a request in the waterfall: sent and not admitted; admitted and without a token; from the first token to the last");
        words.put(
                "KV blocks",
                "those that requests hold when a step is planned; blocks that only the prefix cache keeps can be given out and are free");
        words.put(
                "Goodput, knee",
                "requests per second that were answered within all bounds; the highest rate up to which good requests are completed"
                        + " at 95 % or more of the rate at which they come");
        words.put(
                "Interval",
                "of a comparison: it has the true ratio in 98 of 100 such experiments or more, by the rank-sum test of the pairs"
                        + " measured A B against those measured B A");
        words.put("Percentiles", "interpolate linearly between the two nearest ranks; over completed requests only");
        return words;
    }

    /** The page's style sheet, a resource beside this class. */
    static String style() {
        try (InputStream in =
                Objects.requireNonNull(HtmlReport.class.getResourceAsStream("report.css"), "report.css")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String page() {
        StringBuilder out = new StringBuilder(1 << 16);
        out.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>")
                .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>")
                .append(
                        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>")
                .append("<title>roseinfer: benchmark report</title><style>")
                .append(style())
                .append("</style></head><body><main>\n<h1>Benchmark report</h1>\n");
        runs.forEach(run -> verdict(out, run));
        out.append(studies);
        if (!runs.isEmpty()) {
            runs(out);
        }
        out.append(steps);
        if (!runs.isEmpty() || !studies.isEmpty()) {
            out.append("<h2>Definitions</h2>\n<dl>");
            define(out, DEFINITIONS);
            if (hasParts) {
                define(out, PartsSection.definitions());
            }
            out.append("</dl>\n");
        }
        if (!runs.isEmpty()) {
            out.append("<h2>Where it was measured</h2>\n");
            runs.forEach(run -> about(out, run));
        }
        return out.append("</main></body></html>\n").toString();
    }

    private static void define(StringBuilder out, Map<String, String> words) {
        words.forEach((word, meaning) ->
                out.append("<dt>" + Markup.text(word) + "</dt><dd>" + Markup.text(meaning) + "</dd>"));
    }

    private void runs(StringBuilder out) {
        out.append("<h2>Latencies</h2>\n");
        latencies(out);
        out.append("<div class=\"charts\">\n");
        out.append(distribution("Time to first token", HtmlReport::ttft));
        out.append(distribution("Inter-token latency", HtmlReport::gaps));
        out.append(distribution("Latency of a request", run -> values(run, r -> new double[] {r.end() - r.sent()})));
        out.append("</div>\n<h2>Over time</h2>\n<div class=\"charts\">\n");
        for (int i = 0; i < runs.size(); i++) {
            overTime(out, runs.get(i));
        }
        out.append("</div>\n<h2>Figures</h2>\n");
        table(out, rows(ShownRun::facts));
    }

    private static void verdict(StringBuilder out, ShownRun run) {
        String requests =
                run.requests().size() + " requests" + (run.failed() > 0 ? ", " + run.failed() + " more failed" : "");
        boolean bad = run.verdict().isPresent() && !run.verdict().get().valid();
        out.append("<section class=\"verdict " + (bad ? "bad" : "good") + "\"><strong>" + Markup.text(run.name())
                + "</strong>: " + requests + ". "
                + ResultDocument.simulated(run.about().get("simulated")));
        run.verdict()
                .ifPresentOrElse(
                        judged -> {
                            out.append(judged.valid() ? "The run is valid." : "<strong>The run is invalid.</strong>");
                            list(out, judged.reasons());
                            if (!judged.remedies().isEmpty()) {
                                out.append("To do:");
                                list(out, judged.remedies());
                            }
                            list(out, judged.notes());
                        },
                        () -> out.append(
                                "This benchmark measures in the engine's process and does not judge its client."));
        out.append("</section>\n");
    }

    private static void list(StringBuilder out, List<String> texts) {
        if (!texts.isEmpty()) {
            out.append("<ul>");
            texts.forEach(text -> out.append("<li>" + Markup.text(text) + "</li>"));
            out.append("</ul>");
        }
    }

    private static double[] values(ShownRun run, Function<ShownRun.Request, double[]> value) {
        return run.requests().stream()
                .flatMapToDouble(request -> DoubleStream.of(value.apply(request)))
                .sorted()
                .toArray();
    }

    private static double[] ttft(ShownRun run) {
        return values(run, r -> r.tokens().length == 0 ? new double[0] : new double[] {r.tokens()[0] - r.sent()});
    }

    private static double[] intended(ShownRun run) {
        return values(run, r -> r.tokens().length == 0 ? new double[0] : new double[] {r.tokens()[0] - r.due()});
    }

    private static double[] gaps(ShownRun run) {
        return values(run, ShownRun.Request::gaps);
    }

    private static double[] perToken(ShownRun run) {
        return values(run, r -> {
            int n = r.tokens().length;
            return r.count() < 2 || n == 0
                    ? new double[0]
                    : new double[] {(r.tokens()[n - 1] - r.tokens()[0]) / (r.count() - 1)};
        });
    }

    private void latencies(StringBuilder out) {
        Map<String, Function<ShownRun, double[]>> metrics = new LinkedHashMap<>();
        metrics.put("TTFT", HtmlReport::ttft);
        if (runs.stream().anyMatch(run -> run.verdict().isPresent())) {
            metrics.put("TTFT, intended", HtmlReport::intended);
        }
        metrics.put("TPOT", HtmlReport::perToken);
        metrics.put("ITL", HtmlReport::gaps);
        metrics.put("Latency", run -> values(run, r -> new double[] {r.end() - r.sent()}));
        out.append("<div class=\"scroll\"><table><thead><tr><th>ms</th>");
        if (runs.size() > 1) {
            out.append("<th>run</th>");
        }
        out.append("<th>p50</th><th>p95</th><th>p99</th><th>mean</th><th>max</th><th>samples</th></tr></thead><tbody>");
        metrics.forEach((name, metric) -> runs.forEach(run -> {
            Summary summary = Summary.of(metric.apply(run));
            out.append("<tr><th>" + name + "</th>");
            if (runs.size() > 1) {
                out.append("<th>" + Markup.text(run.name()) + "</th>");
            }
            double[] cells = {summary.p50(), summary.p95(), summary.p99(), summary.mean(), summary.max()};
            for (double cell : cells) {
                out.append("<td>" + (summary.count() == 0 ? "–" : Markup.number(cell)) + "</td>");
            }
            out.append("<td>" + Markup.number(summary.count()) + "</td></tr>");
        }));
        out.append("</tbody></table></div>\n");
    }

    private String distribution(String title, Function<ShownRun, double[]> metric) {
        List<Chart.Series> series = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            double[] sorted = metric.apply(runs.get(i));
            if (sorted.length > 0) {
                series.add(Chart.Series.quantiles(runs.get(i).name(), i % STYLES, sorted));
            }
        }
        return series.isEmpty() ? "" : new Chart(title, "ms", "% of samples at most", series, true).svg();
    }

    private void overTime(StringBuilder out, ShownRun run) {
        String of = runs.size() > 1 ? ", " + run.name() : "";
        if (run.requests().isEmpty()) {
            return;
        }
        TimeCourse course = TimeCourse.of(run);
        out.append(new Chart(
                        "Tokens per second" + of,
                        "s",
                        "tokens/s",
                        List.of(new Chart.Series("tokens/s", 0, course.seconds(), course.tokensPerSecond())),
                        false)
                .svg());
        out.append(new Chart(
                        "Requests in flight" + of,
                        "s",
                        "requests",
                        List.of(
                                new Chart.Series("waiting for the first token", 1, course.seconds(), course.waiting()),
                                new Chart.Series("streaming", 0, course.seconds(), course.streaming())),
                        false)
                .svg());
        out.append(KvCourse.svg(run, of)).append(Waterfall.svg(run, of));
    }

    private Map<String, List<String>> rows(Function<ShownRun, Map<String, String>> part) {
        Set<String> names = new LinkedHashSet<>();
        runs.forEach(run -> names.addAll(part.apply(run).keySet()));
        Map<String, List<String>> rows = new LinkedHashMap<>();
        names.forEach(name -> rows.put(
                name,
                runs.stream()
                        .map(run -> part.apply(run).getOrDefault(name, "–"))
                        .toList()));
        return rows;
    }

    private void table(StringBuilder out, Map<String, List<String>> rows) {
        out.append("<div class=\"scroll\"><table><thead><tr><th></th>");
        runs.forEach(run -> out.append("<th>" + Markup.text(run.name()) + "</th>"));
        out.append("</tr></thead><tbody>");
        rows.forEach((name, cells) -> {
            out.append("<tr><th>" + Markup.text(name) + "</th>");
            cells.forEach(cell -> out.append("<td>" + Markup.text(cell) + "</td>"));
            out.append("</tr>");
        });
        out.append("</tbody></table></div>\n");
    }

    private static void about(StringBuilder out, ShownRun run) {
        out.append("<h3>" + Markup.text(run.name()) + "</h3>").append(Markup.list(run.about()));
    }
}
