package io.roseinfer.bench.report.html;

import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.bench.report.Figures;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** A comparison on the page: what was found, the intervals on one axis, and every figure. */
final class AbSection {
    private static final double WIDTH = 640;
    private static final double LEFT = 190;
    private static final double RIGHT = 20;
    private static final double ROW = 22;
    private static final double TOP = 12;
    private static final double BOTTOM = 46;
    /** What the axis shows on either side of 0 %, at least. */
    private static final double LEAST_PERCENT = 1;

    /** Styles of the page. */
    private static final int EVEN = 0;

    private static final int BETTER = 7;
    private static final int WORSE = 4;

    private final String name;
    private final JsonNode own;
    private final double span;

    AbSection(String name, JsonNode document) {
        this.name = name;
        this.own = document.path("roseinfer");
        this.span = own.path("ratios")
                .valueStream()
                .mapToDouble(ratio -> Math.max(Math.abs(percent(ratio, "low")), Math.abs(percent(ratio, "high"))))
                .reduce(LEAST_PERCENT, Math::max);
    }

    private static double percent(JsonNode ratio, String end) {
        return 100 * (ratio.path(end).asDouble(1) - 1);
    }

    String markup() {
        boolean worse = own.path("worse").asBoolean(false);
        boolean undecided = !own.path("worse").isBoolean();
        String metric = own.path("metric").asString("");
        JsonNode decides = own.path("ratios").path(metric);
        StringBuilder out = new StringBuilder(
                "<h2>" + (name.equals("ab") ? "A and B" : "A and B: " + Markup.text(name)) + "</h2>\n");
        out.append("<section class=\"verdict " + (undecided ? "warn" : worse ? "bad" : "good")
                + "\">"
                + ResultDocument.simulated(own) + "<strong>"
                + Markup.text(metric.replace('_', ' ')) + "</strong> " + verdict(decides, worse) + " "
                + own.path("discarded").asInt(0) + " pairs were discarded.</section>\n");
        out.append("<div class=\"charts\">\n")
                .append(intervals(metric))
                .append(ratios(metric))
                .append("</div>\n");
        table(out);
        out.append("<dl>");
        about(out, "A", own.path("a"));
        about(out, "B", own.path("b"));
        about(out, "Both", own.path("shared"));
        about(out, "Command", own.path("command"));
        out.append("<dt>Measured on</dt><dd>" + Markup.text(ResultDocument.machines(own)) + "</dd>");
        return out.append("</dl>\n").toString();
    }

    private String verdict(JsonNode decides, boolean worse) {
        if (decides.isMissingNode()) {
            return worse
                    ? "is 0 in every run of one arm and in none of the other. <strong>B is worse.</strong>"
                    : "has no ratio: it is 0 in some run, was not measured in every one, or there are too few pairs.";
        }
        return "changes by " + change(decides, "ratio") + " (" + change(decides, "low") + " to "
                + change(decides, "high") + ") from A to B. "
                + (worse ? "<strong>B is worse</strong> than it may be." : "B is not shown to be worse than it may be.")
                + " " + own.path("pairs").size() + " pairs would have found a change of "
                + Markup.number(100 * decides.path("smallest_effect").asDouble(0)) + " % four times in five. "
                + Markup.text(ComparisonReport.UNCORRECTED);
    }

    private static String change(JsonNode ratio, String end) {
        return String.format(Locale.ROOT, "%+.2f %%", percent(ratio, end));
    }

    private static void about(StringBuilder out, String name, JsonNode words) {
        String text = Markup.command(
                words.valueStream().map(word -> word.asString("")).toList());
        String shown = name.equals("Command") ? "roseinfer " + text : text.isEmpty() ? "no flags of its own" : text;
        out.append("<dt>" + name + "</dt><dd><code>" + Markup.text(shown) + "</code></dd>");
    }

    private double x(double percent) {
        return LEFT + (percent + span) / (2 * span) * (WIDTH - LEFT - RIGHT);
    }

    /** A line for each figure: the interval, and the ratio on it. Only the figure that decides has a color. */
    private String intervals(String metric) {
        List<Map.Entry<String, JsonNode>> all = new ArrayList<>();
        own.path("ratios").forEachEntry((figure, ratio) -> all.add(Map.entry(figure, ratio)));
        double bottom = TOP + ROW * all.size();
        StringBuilder out = new StringBuilder("<figure><figcaption>Change from A to B, with intervals</figcaption>");
        out.append("<svg viewBox=\"0 0 640 " + Markup.at(bottom + BOTTOM)
                + "\" role=\"img\" aria-label=\"Change from A to B, with intervals\">");
        double step = Chart.even(span).get(1);
        for (double tick = -Math.floor(span / step) * step; tick <= span * (1 + 1e-9); tick += step) {
            String at = Markup.at(x(tick));
            out.append("<line class=\"" + (Math.abs(tick) < step / 2 ? "zero" : "grid") + "\" x1=\"" + at + "\" x2=\""
                    + at + "\" y1=\"" + TOP + "\" y2=\"" + bottom
                    + "\"/><text class=\"tick\" text-anchor=\"middle\" x=\""
                    + at + "\" y=\"" + (bottom + 18) + "\">" + Markup.tick(Math.abs(tick) < step / 2 ? 0 : tick)
                    + "</text>");
        }
        for (int i = 0; i < all.size(); i++) {
            double y = TOP + ROW * (i + 0.5);
            JsonNode ratio = all.get(i).getValue();
            int style = all.get(i).getKey().equals(metric) ? style(metric, ratio) : Chart.NEUTRAL;
            out.append("<text class=\"tick\" text-anchor=\"end\" x=\"" + (LEFT - 8) + "\" y=\"" + Markup.at(y)
                    + "\" dy=\"4\">" + Markup.text(all.get(i).getKey().replace('_', ' ')) + "</text>");
            out.append("<polyline class=\"s" + style + "\" points=\"" + Markup.at(x(percent(ratio, "low"))) + ","
                    + Markup.at(y) + " " + Markup.at(x(percent(ratio, "high"))) + "," + Markup.at(y) + "\"/>");
            out.append("<circle class=\"m" + style + "\" cx=\"" + Markup.at(x(percent(ratio, "ratio"))) + "\" cy=\""
                    + Markup.at(y) + "\" r=\"4\"/>");
        }
        out.append("<text class=\"label\" text-anchor=\"middle\" x=\"" + (LEFT + WIDTH - RIGHT) / 2 + "\" y=\""
                + (bottom + BOTTOM - 8) + "\">% of A</text></svg></figure>\n");
        return out.toString();
    }

    /** Green for an improvement, red for the opposite, blue for neither. */
    private static int style(String metric, JsonNode ratio) {
        boolean less = ratio.path("high").asDouble(1) < 1;
        boolean more = ratio.path("low").asDouble(1) > 1;
        if (!less && !more) {
            return EVEN;
        }
        return more == Figures.isHigherBetter(metric) ? BETTER : WORSE;
    }

    /** Both runs of every pair, in the order they were measured: whether the machine drifted, and which pair was odd. */
    private String ratios(String metric) {
        List<Chart.Mark> marks = new ArrayList<>();
        double number = 0;
        for (JsonNode pair : own.path("pairs")) {
            number++;
            marks.add(new Chart.Mark(EVEN, number, pair.path("a").path(metric).asDouble(0), "", false));
            marks.add(new Chart.Mark(1, number, pair.path("b").path(metric).asDouble(0), "", false));
        }
        return new Chart(
                        metric.replace('_', ' ') + ", pair by pair",
                        "pair",
                        "",
                        List.of(
                                new Chart.Series("A", EVEN, List.of(), List.of()),
                                new Chart.Series("B", 1, List.of(), List.of())),
                        false)
                .withMarks(marks)
                .svg();
    }

    private void table(StringBuilder out) {
        out.append(
                "<div class=\"scroll\"><table><thead><tr><th>figure</th><th>median A</th><th>median B</th><th>B / A</th>"
                        + "<th>from</th><th>to</th><th>can see</th></tr></thead><tbody>");
        own.path("ratios").forEachEntry((figure, ratio) -> {
            medians(out, figure);
            for (String end : List.of("ratio", "low", "high")) {
                out.append(String.format(
                        Locale.ROOT, "<td>%.4f</td>", ratio.path(end).asDouble()));
            }
            out.append(String.format(
                    Locale.ROOT,
                    "<td>%.2f %%</td></tr>",
                    100 * ratio.path("smallest_effect").asDouble()));
        });
        own.path("zeros").valueStream().map(JsonNode::asString).forEach(figure -> {
            medians(out, figure);
            out.append("<td colspan=\"4\">0 in some run</td></tr>");
        });
        out.append("</tbody></table></div>\n");
    }

    private void medians(StringBuilder out, String figure) {
        out.append("<tr><th>" + Markup.text(figure.replace('_', ' ')) + "</th><td>" + Markup.number(median("a", figure))
                + "</td><td>" + Markup.number(median("b", figure)) + "</td>");
    }

    private double median(String arm, String figure) {
        return Summary.of(own.path("pairs")
                        .valueStream()
                        .mapToDouble(pair -> pair.path(arm).path(figure).asDouble(0))
                        .toArray())
                .p50();
    }
}
