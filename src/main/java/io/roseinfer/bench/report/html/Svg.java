package io.roseinfer.bench.report.html;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A drawing. Its colors are classes of the page's style sheet, so that it supports dark mode and printing. Its texts are escaped.
 */
final class Svg {
    /** The width of a drawing in units. */
    static final double WIDTH = 640;

    /** Corners of each style's marks as multiples of a radius: circle, square, triangles, diamonds and cross. */
    private static final List<double[]> SHAPES = List.of(
            new double[0],
            new double[] {-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9},
            new double[] {0, -1.2, 1.2, 0.9, -1.2, 0.9},
            new double[] {0, -1.35, 1.35, 0, 0, 1.35, -1.35, 0},
            new double[] {0, 1.2, 1.2, -0.9, -1.2, -0.9},
            new double[] {
                -0.4, -1.2, 0.4, -1.2, 0.4, -0.4, 1.2, -0.4, 1.2, 0.4, 0.4, 0.4, 0.4, 1.2, -0.4, 1.2, -0.4, 0.4, -1.2,
                0.4, -1.2, -0.4, -0.4, -0.4
            });

    private static final String NARROW = "ijlI .,:;!|/-'()[]frt";
    private static final String WIDE = "mwMW%@=+<>";

    private final StringBuilder out = new StringBuilder();

    /** The alignment of a text. */
    enum Anchor {
        MIDDLE,
        END
    }

    /** A point of a line. */
    record Point(double x, double y) {}

    /** Returns an upper bound of a text's width in common sans-serif fonts; it cannot be measured, because fonts are the reader's. */
    static double width(String text, double size) {
        double em = 0;
        for (int i = 0; i < text.length(); i++) {
            char next = text.charAt(i);
            em += NARROW.indexOf(next) >= 0
                    ? 0.46
                    : WIDE.indexOf(next) >= 0 || next > 0x24f ? 1 : Character.isUpperCase(next) ? 0.8 : 0.65;
        }
        return em * size;
    }

    Svg line(String style, double x1, double y1, double x2, double y2) {
        out.append("<line class=\"" + style + "\" x1=\"" + Markup.at(x1) + "\" x2=\"" + Markup.at(x2) + "\" y1=\""
                + Markup.at(y1) + "\" y2=\"" + Markup.at(y2) + "\"/>");
        return this;
    }

    Svg text(String style, Anchor anchor, double x, double y, String text) {
        out.append("<text class=\"" + style + "\" text-anchor=\"" + (anchor == Anchor.END ? "end" : "middle")
                + "\" x=\"" + Markup.at(x) + "\" y=\"" + Markup.at(y) + "\">" + Markup.text(text) + "</text>");
        return this;
    }

    Svg polyline(String style, List<Point> points) {
        out.append("<polyline class=\"" + style + "\" points=\""
                + points.stream()
                        .map(point -> Markup.at(point.x()) + "," + Markup.at(point.y()))
                        .collect(Collectors.joining(" "))
                + "\"/>");
        return this;
    }

    Svg circle(String style, double x, double y, double radius) {
        out.append("<circle class=\"" + style + "\" cx=\"" + Markup.at(x) + "\" cy=\"" + Markup.at(y) + "\" r=\""
                + radius + "\"/>");
        return this;
    }

    /** Adds a mark at a point. Its shape depends on the style too, so that marks differ without colors. */
    Svg mark(String style, int shape, double x, double y, double radius) {
        double[] corners = shape < SHAPES.size() ? SHAPES.get(shape) : new double[0];
        if (corners.length == 0) {
            return circle(style, x, y, radius);
        }
        out.append("<polygon class=\"" + style + "\" points=\"");
        for (int i = 0; i < corners.length; i += 2) {
            out.append((i > 0 ? " " : "") + Markup.at(x + radius * corners[i]) + ","
                    + Markup.at(y + radius * corners[i + 1]));
        }
        out.append("\"/>");
        return this;
    }

    Svg rect(String style, double x, double y, double width, double height) {
        out.append("<rect class=\"" + style + "\" x=\"" + Markup.at(x) + "\" y=\"" + Markup.at(y) + "\" width=\""
                + Markup.at(width) + "\" height=\"" + Markup.at(height) + "\"/>");
        return this;
    }

    /** Adds a path, unless it is empty. */
    Svg path(String style, StringBuilder path) {
        if (!path.isEmpty()) {
            out.append("<path class=\"" + style + "\" d=\"").append(path).append("\"/>");
        }
        return this;
    }

    /** Adds an axis below a plot, with grid lines. */
    Svg below(Axis axis, double top, double bottom, String label) {
        for (double tick : axis.ticks()) {
            double x = axis.at(tick);
            line(tick == 0 && axis.low() < 0 ? "zero" : "grid", x, top, x, bottom);
            text("tick", Anchor.MIDDLE, x, bottom + 18, Markup.tick(tick));
        }
        return text("label", Anchor.MIDDLE, (axis.from() + axis.to()) / 2, bottom + 42, label);
    }

    /** Adds an axis left of a plot, with grid lines. */
    Svg leftOf(Axis axis, double left, double right, String label) {
        for (double tick : axis.ticks()) {
            double y = axis.at(tick);
            line("grid", left, y, right, y);
            text("tick", Anchor.END, left - 6, y + 4, Markup.tick(tick));
        }
        String middle = Markup.at((axis.from() + axis.to()) / 2);
        out.append("<text class=\"label\" text-anchor=\"middle\" x=\"16\" y=\"" + middle
                + "\" transform=\"rotate(-90 16 " + middle + ")\">" + Markup.text(label) + "</text>");
        return this;
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
