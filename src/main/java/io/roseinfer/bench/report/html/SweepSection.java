package io.roseinfer.bench.report.html;

import io.roseinfer.bench.compare.Sweep;
import io.roseinfer.bench.compare.SweepPoint;
import io.roseinfer.bench.compare.SweepReport;
import io.roseinfer.bench.compare.SweepResult;
import io.roseinfer.bench.report.ResultJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** A sweep on the page: goodput and tail latency against the offered rate, throughput against what one user sees, and every point. */
final class SweepSection {
    private static final int STYLES = 6;
    private static final List<String> SHOWN = List.of(
            SweepPoint.OFFERED_RATE,
            "request_goodput",
            "good_share",
            "median_ttft_ms",
            "p99_ttft_ms",
            "median_tpot_ms",
            "p99_tpot_ms",
            "output_throughput");

    private final String name;
    private final JsonNode document;
    private final SweepResult result;
    private final Sweep sweep;

    SweepSection(String name, JsonNode document) {
        this.name = name;
        this.document = document;
        this.result = ResultJson.read(name, document, SweepResult.class);
        this.sweep = result.sweep();
    }

    String markup() {
        StringBuilder out = new StringBuilder("<h2>" + Markup.text(title()) + "</h2>\n");
        out.append("<section class=\"verdict " + (sweep.invalid().isEmpty() ? "good" : "warn") + "\">");
        String objective = objective();
        out.append(ResultDocument.simulated(document.path("roseinfer")));
        out.append(objective.isEmpty() ? "" : Markup.text("Good: " + objective + ". ") + "<br/>");
        if (sweep.variesRate()) {
            sweep.bySettings()
                    .forEach(settings -> out.append(Markup.text(finding(settings, !objective.isEmpty())) + "<br/>"));
        }
        invalid(out);
        out.append("</section>\n<div class=\"charts\">\n");
        if (hasRates()) {
            out.append(againstRate("Goodput against rate", "good requests/s", "request_goodput", true));
            out.append(againstRate("TTFT p99 against rate", "ms", "p99_ttft_ms", false));
            out.append(againstRate("TPOT p50 against rate", "ms", "median_tpot_ms", false));
        }
        out.append(pareto()).append("</div>\n");
        table(out);
        out.append("<dl><dt>Command</dt><dd><code>"
                + Markup.text(
                        "roseinfer " + Markup.command(result.roseinfer().study().command()))
                + "</code></dd><dt>Measured on</dt><dd>"
                + Markup.text(ResultDocument.machines(document.path("roseinfer"))) + "</dd></dl>\n");
        return out.toString();
    }

    /** What was varied, and the file's name if that says more than the command's. */
    private String title() {
        String flags = sweep.points().stream()
                .flatMap(point -> point.flags().keySet().stream())
                .distinct()
                .collect(Collectors.joining(", "));
        return "Sweep" + (flags.isEmpty() ? "" : " over " + flags) + (name.equals("sweep") ? "" : ": " + name);
    }

    private String objective() {
        List<String> bounds = new ArrayList<>();
        document.path("roseinfer")
                .path("goodput")
                .forEachEntry((metric, millis) -> bounds.add(
                        metric.toUpperCase(Locale.ROOT) + " at most " + Markup.number(millis.asDouble()) + " ms"));
        return bounds.isEmpty()
                ? ""
                : String.join(" and ", bounds) + ", asked of " + Markup.number(100 * sweep.attainment())
                        + " % of the requests";
    }

    private String finding(Sweep.Settings settings, boolean hasObjective) {
        String of = settings.flags().isEmpty() ? "" : label(settings.flags()) + ": ";
        return of + (hasObjective ? "highest rate that meets it " + rate(sweep.highest(settings)) + "; " : "") + "knee "
                + rate(sweep.knee(settings)) + ".";
    }

    private static String rate(Sweep.Answer answer) {
        return SweepReport.answer(answer, Markup::number);
    }

    /** The points that do not count, and why. */
    private void invalid(StringBuilder out) {
        List<SweepPoint> invalid = sweep.invalid();
        if (!invalid.isEmpty()) {
            out.append("<strong>" + invalid.size() + " of " + sweep.points().size()
                    + " points do not count</strong>; they are hollow in the charts.<ul>");
            invalid.forEach(point -> out.append("<li>"
                    + Markup.text(label(point.flags()) + ": " + point.reasons().getFirst()) + "</li>"));
            out.append("</ul>");
        }
    }

    private boolean hasRates() {
        return sweep.points().stream()
                .anyMatch(point -> point.figure(SweepPoint.OFFERED_RATE).isPresent());
    }

    private static String label(Map<String, String> flags) {
        return flags.isEmpty()
                ? "all"
                : flags.entrySet().stream()
                        .map(flag -> flag.getKey() + " " + flag.getValue())
                        .collect(Collectors.joining(", "));
    }

    private String againstRate(String title, String yLabel, String figure, boolean marksKnee) {
        List<Chart.Series> series = new ArrayList<>();
        List<Chart.Mark> marks = new ArrayList<>();
        for (Sweep.Settings settings : sweep.bySettings()) {
            List<SweepPoint> points = settings.points().stream()
                    .filter(point -> point.figure(SweepPoint.OFFERED_RATE).isPresent()
                            && point.figure(figure).isPresent())
                    .toList();
            int style = series.size() % STYLES;
            series.add(new Chart.Series(
                    label(settings.flags()),
                    style,
                    points.stream().map(SweepSection::offered).toList(),
                    points.stream().map(point -> point.figure(figure).orElse(0)).toList()));
            points.forEach(point -> marks.add(mark(style, point, figure, "")));
            if (marksKnee
                    && sweep.knee(settings) instanceof Sweep.Answer.Between knee
                    && knee.beyond().isPresent()) {
                marks.add(mark(style, knee.point(), figure, "knee"));
            }
        }
        return new Chart(title, "requests/s offered", yLabel, series, false)
                .withMarks(marks)
                .svg();
    }

    private static Chart.Mark mark(int style, SweepPoint point, String figure, String label) {
        return new Chart.Mark(style, offered(point), point.figure(figure).orElse(0), label, !point.counts());
    }

    private static double offered(SweepPoint point) {
        return point.figure(SweepPoint.OFFERED_RATE).orElse(0);
    }

    /** Every point in its setting's colour, and a neutral line through those that no other one beats. */
    private String pareto() {
        List<SweepPoint> best = sweep.pareto();
        if (best.isEmpty()) {
            return "";
        }
        List<Chart.Series> series = new ArrayList<>();
        List<Chart.Mark> marks = new ArrayList<>();
        series.add(new Chart.Series(
                "no point beats these in both",
                Chart.NEUTRAL,
                best.stream().map(point -> Sweep.tokensPerUser(point).orElse(0)).toList(),
                best.stream()
                        .map(point -> point.figure("output_throughput").orElse(0))
                        .toList()));
        int index = 0;
        for (Sweep.Settings settings : sweep.bySettings()) {
            int style = index++ % STYLES;
            series.add(new Chart.Series(label(settings.flags()), style, List.of(), List.of()));
            settings.points().stream()
                    .filter(point -> Sweep.tokensPerUser(point).isPresent())
                    .map(point -> new Chart.Mark(
                            style,
                            Sweep.tokensPerUser(point).orElse(0),
                            point.figure("output_throughput").orElse(0),
                            "",
                            !point.counts()))
                    .forEach(marks::add);
        }
        return new Chart("Throughput against speed (Pareto)", "tokens/s of one user", "tokens/s of all", series, false)
                .withMarks(marks)
                .svg();
    }

    private void table(StringBuilder out) {
        out.append("<div class=\"scroll\"><table><thead><tr><th>point</th>");
        SHOWN.forEach(figure -> out.append("<th>" + figure.replace('_', ' ') + "</th>"));
        out.append("<th>failed</th><th>meets</th><th>valid</th></tr></thead><tbody>");
        for (Sweep.Settings settings : sweep.bySettings()) {
            for (SweepPoint point : settings.points()) {
                out.append("<tr><th>" + Markup.text(label(point.flags())) + "</th>");
                for (String figure : SHOWN) {
                    OptionalDouble value = point.figure(figure);
                    out.append("<td>" + (value.isPresent() ? Markup.number(value.getAsDouble()) : "–") + "</td>");
                }
                out.append("<td>" + point.failed() + "</td><td>" + (point.meets(sweep.attainment()) ? "yes" : "no")
                        + "</td><td>"
                        + (point.counts()
                                ? "yes"
                                : "no: " + Markup.text(point.reasons().getFirst()))
                        + "</td></tr>");
            }
        }
        out.append("</tbody></table></div>\n");
    }
}
