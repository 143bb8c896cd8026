package io.roseinfer.bench.report.html;

import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * What a latency is made of from its shortest sample to its longest, as SVG: a column for each slice of the samples, its parts stacked. A
 * part that grows to the right is what makes the tail.
 */
final class PartsByRank {
    private static final double WIDTH = 640;
    private static final double HEIGHT = 300;
    private static final double LEFT = 76;
    private static final double RIGHT = 14;
    private static final double TOP = 14;
    private static final double BOTTOM = 50;
    private static final int[] PERCENTILES = {0, 25, 50, 75, 100};

    private final JsonNode slices;
    private final int columns;
    private final double highest;

    private PartsByRank(JsonNode slices) {
        this.slices = slices;
        this.columns = slices.valueStream().mapToInt(JsonNode::size).min().orElse(0);
        double most = 1e-9;
        for (int i = 0; i < columns; i++) {
            most = Math.max(most, height(i));
        }
        this.highest = most;
    }

    /**
     * The figure; nothing where the file has no slices.
     *
     * @param of what the samples are
     * @param parts a table of parts, as the results file has it
     */
    static String svg(String title, String of, JsonNode parts) {
        PartsByRank chart = new PartsByRank(parts.path("slices"));
        return chart.columns == 0 ? "" : chart.figure(title, of);
    }

    /** What a column's parts come to; a part below nothing, the residual of stamps out of order, is not drawn. */
    private double height(int column) {
        return slices.valueStream()
                .mapToDouble(part -> Math.max(0, part.path(column).asDouble()))
                .sum();
    }

    private String figure(String title, String of) {
        StringBuilder out = new StringBuilder("<figure><figcaption>" + Markup.text(title) + "</figcaption>"
                + "<svg viewBox=\"0 0 640 300\" role=\"img\" aria-label=\"" + Markup.text(title) + "\">");
        StringBuilder legend = new StringBuilder();
        axes(out, of);
        double[] below = new double[columns];
        int style = 0;
        for (Map.Entry<String, JsonNode> part : slices.properties()) {
            String path = path(part.getValue(), below);
            if (!path.isEmpty()) {
                out.append("<path class=\"" + PartsSection.colour("b", style) + "\" d=\"" + path + "\"/>");
                legend.append("<span><i class=\"" + PartsSection.colour("k", style) + "\"></i>"
                        + Markup.text(PartsSection.word(part.getKey())) + "</span> ");
            }
            style++;
        }
        return out.append("</svg><p class=\"legend\">" + legend + "</p></figure>\n")
                .toString();
    }

    /** One part of every column, on top of what is below it, which grows by it. */
    private String path(JsonNode part, double... below) {
        StringBuilder path = new StringBuilder();
        double width = (WIDTH - LEFT - RIGHT) / columns;
        for (int i = 0; i < columns; i++) {
            double millis = Math.max(0, part.path(i).asDouble());
            double tall = millis / highest * (HEIGHT - TOP - BOTTOM);
            if (tall >= 0.05) {
                path.append(String.format(
                        Locale.ROOT, "M%.2f %.1fh%.2fv%.1fh%.2fz", x(i, columns), y(below[i]), width, -tall, -width));
            }
            below[i] += millis;
        }
        return path.toString();
    }

    private static double x(double rank, double of) {
        return LEFT + rank / of * (WIDTH - LEFT - RIGHT);
    }

    private double y(double millis) {
        return HEIGHT - BOTTOM - millis / highest * (HEIGHT - TOP - BOTTOM);
    }

    private void axes(StringBuilder out, String of) {
        for (double tick : Chart.even(highest)) {
            String at = Markup.at(y(tick));
            out.append("<line class=\"grid\" x1=\"" + LEFT + "\" x2=\"" + (WIDTH - RIGHT) + "\" y1=\"" + at + "\" y2=\""
                    + at + "\"/><text class=\"tick\" text-anchor=\"end\" x=\"" + (LEFT - 6) + "\" y=\"" + at
                    + "\" dy=\"4\">" + Markup.tick(tick) + "</text>");
        }
        for (int percentile : PERCENTILES) {
            out.append("<text class=\"tick\" text-anchor=\"middle\" x=\"" + Markup.at(x(percentile, 100)) + "\" y=\""
                    + (HEIGHT - BOTTOM + 18) + "\">" + percentile + "</text>");
        }
        double middle = (TOP + HEIGHT - BOTTOM) / 2;
        out.append("<text class=\"label\" text-anchor=\"middle\" x=\"" + x(1, 2) + "\" y=\"" + (HEIGHT - 8) + "\">% of "
                + of + ", the shortest first</text><text class=\"label\" text-anchor=\"middle\" x=\"16\" y=\"" + middle
                + "\" transform=\"rotate(-90 16 " + middle + ")\">ms</text>");
    }
}
