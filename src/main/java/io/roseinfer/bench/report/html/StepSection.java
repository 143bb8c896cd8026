package io.roseinfer.bench.report.html;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/** A benchmark without a load on the page: a model's steps, what a step of the scheduler costs, or the scheduler driven by hand. */
final class StepSection {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int STYLES = 6;

    /** A column of a table: its title, and where in a point its value is. */
    private record Column(String title, String pointer) {}

    private static final List<Column> OF_MODEL = List.of(
            new Column("rows", "/rows"),
            new Column("tokens a row", "/tokens"),
            new Column("ms", "/step_ms/median"),
            new Column("min ms", "/step_ms/min"),
            new Column("max ms", "/step_ms/max"),
            new Column("tokens/s", "/throughput_tok_s"));

    private static final List<Column> OF_COST = List.of(
            new Column("waiting", "/waiting"),
            new Column("plan us", "/plan_us/p50"),
            new Column("pack us", "/pack_us/p50"),
            new Column("apply us", "/apply_us/p50"),
            new Column("total us", "/total_us/p50"),
            new Column("p99 us", "/total_us/p99"),
            new Column("steps/s", "/steps_per_s"),
            new Column("admit us", "/admit_us/p50"));

    private final String name;
    private final JsonNode document;
    private final StringBuilder out = new StringBuilder();

    private StepSection(String name, JsonNode document) {
        this.name = Markup.text(name);
        this.document = document;
    }

    /** Whether a results file's content is of such a benchmark. */
    static boolean shows(JsonNode document) {
        return document.has("mode") || document.path("points").path(0).has("step_ms") || isCost(document);
    }

    private static boolean isCost(JsonNode document) {
        return document.path("points").path(0).has("total_us");
    }

    /** The section; a document that {@link #shows} is true of. */
    static String markup(String name, JsonNode document) {
        StepSection section = new StepSection(name, document);
        if (document.has("mode")) {
            section.driven();
        } else if (isCost(document)) {
            section.cost();
        } else {
            section.model();
        }
        Map<String, String> about = new LinkedHashMap<>();
        ResultDocument.about(about, document);
        section.out.append("<h3>Where it was measured</h3>").append(Markup.list(about));
        return section.out.toString();
    }

    private List<JsonNode> points() {
        return document.path("points").valueStream().toList();
    }

    private void model() {
        out.append("<h2>Steps of the model: " + name + "</h2>\n<div class=\"charts\">\n");
        for (String kind : List.of("prefill", "decode")) {
            List<JsonNode> points = points().stream()
                    .filter(point -> point.path("kind").asString("").equals(kind))
                    .toList();
            boolean decodes = kind.equals("decode");
            Chart.Series line = series(
                    kind,
                    decodes ? 1 : 0,
                    points,
                    point ->
                            point.path("rows").asDouble() * point.path("tokens").asDouble(),
                    point -> point.at("/step_ms/median").asDouble());
            chart(
                    decodes ? "A decode step" : "A prefill step",
                    decodes ? "rows" : "prompt tokens",
                    "ms",
                    List.of(line));
        }
        out.append("</div>\n");
        table("step", "/kind", OF_MODEL);
        out.append(
                "<p>A step's time is the median over the runs, between the fastest and the slowest; tokens/s are of the median.</p>\n");
    }

    private void cost() {
        out.append("<h2>Cost of a scheduling step: " + name + "</h2>\n<div class=\"charts\">\n");
        Map<Double, List<JsonNode>> byWaiting = new LinkedHashMap<>();
        points().forEach(point -> byWaiting
                .computeIfAbsent(point.path("waiting").asDouble(), waiting -> new ArrayList<>())
                .add(point));
        List<Chart.Series> lines = new ArrayList<>();
        byWaiting.forEach((waiting, points) -> lines.add(series(
                Markup.number(waiting) + " waiting",
                lines.size() % STYLES,
                points,
                point -> point.path("running").asDouble(),
                point -> point.at("/total_us/p50").asDouble())));
        chart("Plan, pack and apply, median", "requests that run", "us", lines);
        out.append("</div>\n");
        table("running", "/running", OF_COST);
        out.append(
                "<p>Medians over the steps of a point; total: plan, pack and apply of a decode step; admit: the total of a step that"
                        + " takes in one of those who wait.</p>\n");
    }

    private void driven() {
        out.append("<h2>The scheduler driven by hand, "
                + Markup.text(document.path("mode").asString("")) + ": " + name + "</h2>\n<div class=\"charts\">\n");
        distribution("Time to first token", "ttft_ns");
        distribution("Latency of a request", "latency_ns");
        out.append("</div>\n<div class=\"scroll\"><table><thead><tr><th>over ")
                .append(document.path("runs").size())
                .append(" runs</th><th>median</th><th>min</th><th>max</th></tr></thead><tbody>");
        document.path("over_runs").forEachEntry((figure, value) -> {
            out.append("<tr><th>" + Markup.text(figure.replace('_', ' ')) + "</th>");
            for (String part : List.of("median", "min", "max")) {
                out.append("<td>" + Markup.number(value.path(part).asDouble()) + "</td>");
            }
            out.append("</tr>");
        });
        out.append(
                "</tbody></table></div>\n<p>A latency is from adding the request, and of a run the median over its requests.</p>\n");
    }

    private void distribution(String title, String field) {
        List<JsonNode> runs = document.path("runs").valueStream().toList();
        List<Chart.Series> lines = IntStream.range(0, runs.size())
                .mapToObj(i -> Chart.Series.quantiles("run " + (i + 1), i % STYLES, millis(runs.get(i), field)))
                .toList();
        chart(title, "ms", "% of requests at most", lines);
    }

    private static double[] millis(JsonNode run, String field) {
        return run.path("requests")
                .valueStream()
                .flatMapToDouble(request -> DoubleStream.of(request.path(field).asDouble() / NANOS_PER_MILLI))
                .sorted()
                .toArray();
    }

    private static Chart.Series series(
            String name, int style, List<JsonNode> points, ToDoubleFunction<JsonNode> x, ToDoubleFunction<JsonNode> y) {
        List<JsonNode> ordered =
                points.stream().sorted(Comparator.comparingDouble(x)).toList();
        return new Chart.Series(
                name,
                style,
                ordered.stream().map(x::applyAsDouble).toList(),
                ordered.stream().map(y::applyAsDouble).toList());
    }

    /** A chart, if a line of it has two points. */
    private void chart(String title, String xLabel, String yLabel, List<Chart.Series> lines) {
        if (lines.stream().anyMatch(line -> line.x().size() > 1)) {
            out.append(new Chart(title, xLabel, yLabel, lines, true).svg());
        }
    }

    private void table(String first, String pointer, List<Column> columns) {
        out.append("<div class=\"scroll\"><table><thead><tr><th>" + first + "</th>");
        columns.forEach(column -> out.append("<th>" + column.title() + "</th>"));
        out.append("</tr></thead><tbody>");
        for (JsonNode point : points()) {
            out.append("<tr><th>" + Markup.text(point.at(pointer).asString("")) + "</th>");
            for (Column column : columns) {
                JsonNode value = point.at(column.pointer());
                out.append("<td>" + (value.isNumber() ? Markup.number(value.doubleValue()) : "–") + "</td>");
            }
            out.append("</tr>");
        }
        out.append("</tbody></table></div>\n");
    }
}
