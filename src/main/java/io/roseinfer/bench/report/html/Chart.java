package io.roseinfer.bench.report.html;

import io.roseinfer.bench.report.html.Block.Figure;
import io.roseinfer.bench.report.html.Svg.Anchor;
import io.roseinfer.bench.report.html.Svg.Point;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A line chart. */
final class Chart {
    /** The position of the plot in a drawing. */
    static final double HEIGHT = 300;

    static final double LEFT = 76;
    static final double RIGHT = Svg.WIDTH - 14;
    static final double TOP = 14;
    static final double BOTTOM = HEIGHT - 50;

    /** Ratio of the largest to the smallest value from which on a horizontal axis is logarithmic. */
    private static final double FAR = 50;

    /** The same of a vertical axis, where few high values would flatten all others. */
    private static final double FAR_UP = 10;

    /** Ratio by which an axis exceeds its values, so that no mark is cut off. */
    private static final double MARGIN = 1.03;

    private static final double LABEL_SIZE = 13;
    private static final double LABEL_HEIGHT = 14;

    /** Distance from which on marks are seen apart. */
    private static final double NEAR = 3;

    /** Radius of the ring around a labeled mark. */
    private static final double RING = 8;

    /** The style of a line that belongs to no series. */
    static final int NEUTRAL = 6;

    private static final int STYLES = 6;

    /** Number of styles that no series has: neutral, and better in comparisons. */
    private static final int OTHER_STYLES = 2;

    /** Returns the style of a series by its number; styles repeat after 36, the pairs of a color and a shape. */
    static int style(int series) {
        int number = series % (STYLES * STYLES);
        return number < STYLES ? number : number + OTHER_STYLES;
    }

    /** Returns the number of a style's color. */
    static int color(int style) {
        return style < STYLES + OTHER_STYLES ? style : (style - OTHER_STYLES) % STYLES;
    }

    /** Returns the number of a style's dashes and marks; styles of equal color differ in it. */
    static int shape(int style) {
        int number = style - OTHER_STYLES;
        return style < STYLES + OTHER_STYLES ? style : (number + number / STYLES) % STYLES;
    }

    /** Returns the classes of a line. */
    private static String line(String plain, String kind, int style) {
        return style < STYLES + OTHER_STYLES ? plain + style : kind + color(style) + " d" + shape(style);
    }

    /**
     * One line.
     *
     * @param name name in the legend
     * @param style line style by {@link #style}, or {@link #NEUTRAL}
     * @param x ascending values; empty for a series that only has marks
     * @param y values, as many as x
     */
    record Series(String name, int style, List<Double> x, List<Double> y) {
        /** Maximum points of a distribution; more cannot be distinguished. */
        private static final int QUANTILES = 200;

        /** Creates the cumulative distribution of sorted samples, in percent. */
        static Series quantiles(String name, int style, double... sorted) {
            List<Double> x = new ArrayList<>();
            List<Double> y = new ArrayList<>();
            int points = Math.min(QUANTILES, sorted.length);
            for (int k = 0; k <= points && points > 0; k++) {
                x.add(sorted[(int) Math.round((double) k / points * (sorted.length - 1))]);
                y.add(100.0 * k / points);
            }
            return new Series(name, style, x, y);
        }
    }

    /**
     * A marked point.
     *
     * @param style color by {@link Chart#style}
     * @param label label next to it; a labeled mark is a ring around the point
     * @param hollow whether it is a circle, drawn above the filled ones
     */
    record Mark(int style, double x, double y, String label, boolean hollow) {}

    /**
     * The range of a line's values.
     *
     * @param style color by {@link Chart#style}
     * @param x ascending values
     * @param low lowest values, as many as x
     * @param high highest values, as many as x
     */
    record Band(int style, List<Double> x, List<Double> low, List<Double> high) {}

    private final String title;
    private final String xLabel;
    private final String yLabel;
    private final List<Series> series;
    private List<Mark> marks = List.of();
    private List<Band> bands = List.of();
    private Point extent = new Point(0, 0);
    private OptionalDouble limit = OptionalDouble.empty();
    private boolean yMayBeLogarithmic;
    private final boolean mayBeLogarithmic;

    /**
     * Creates a chart.
     *
     * @param mayBeLogarithmic whether the horizontal axis is logarithmic if values are far apart
     */
    Chart(String title, String xLabel, String yLabel, List<Series> series, boolean mayBeLogarithmic) {
        this.title = title;
        this.xLabel = xLabel;
        this.yLabel = yLabel;
        this.series = List.copyOf(series);
        this.mayBeLogarithmic = mayBeLogarithmic;
    }

    /** Adds marks; returns this chart. */
    Chart withMarks(List<Mark> value) {
        marks = List.copyOf(value);
        return this;
    }

    /** Adds ranges, drawn below the lines; returns this chart. */
    Chart withBands(List<Band> value) {
        bands = List.copyOf(value);
        return this;
    }

    /** Makes the vertical axis logarithmic if values are far apart; returns this chart. */
    Chart logarithmicIfFar() {
        yMayBeLogarithmic = true;
        return this;
    }

    /** Adds a horizontal line at the highest value that an objective allows, if there is one; returns this chart. */
    Chart withLimit(OptionalDouble value) {
        limit = value;
        return this;
    }

    /** Gives charts without marks the same axes, so that they can be compared. */
    static void onEqualAxes(List<Chart> charts) {
        double x = charts.stream().mapToDouble(Chart::lastX).max().orElse(0);
        double y = charts.stream().mapToDouble(Chart::highestY).max().orElse(0);
        charts.forEach(chart -> chart.extent = new Point(x, y));
    }

    /** Returns the chart with its title and legend. */
    Figure figure() {
        Axis x = xAxis();
        Axis y = yAxis();
        Svg svg = new Svg().below(x, TOP, BOTTOM, label(xLabel, x)).leftOf(y, LEFT, RIGHT, label(yLabel, y));
        bands.forEach(band -> svg.path("a" + color(band.style()), outline(band, x, y)));
        limit.ifPresent(value -> svg.line("s" + NEUTRAL, LEFT, y.at(value), RIGHT, y.at(value))
                .text("label", Anchor.END, RIGHT - 4, y.at(value) - 5, "objective " + Markup.tick(value)));
        lines(svg, x, y);
        marks.stream().filter(mark -> !mark.hollow()).forEach(mark -> mark(svg, mark, x, y));
        marks.stream().filter(Mark::hollow).forEach(mark -> mark(svg, mark, x, y));
        List<Block.Key> legend = series.size() < 2
                ? List.of()
                : series.stream().map(this::key).distinct().toList();
        return new Figure(title, HEIGHT, svg, legend, List.of());
    }

    /** Draws the lines. Where lines with marks coincide, the lower one is wider and the upper one has gaps of the page's color. */
    private void lines(Svg svg, Axis x, Axis y) {
        List<List<Point>> drawn = series.stream()
                .map(line -> IntStream.range(0, line.x().size())
                        .mapToObj(i ->
                                new Point(x.at(line.x().get(i)), y.at(line.y().get(i))))
                        .toList())
                .toList();
        for (int i = 0; i < drawn.size(); i++) {
            List<Point> points = drawn.get(i);
            String style = line("s", "c", series.get(i).style());
            for (int k = 1; k < points.size() && !marks.isEmpty(); k++) {
                List<Point> segment = points.subList(k - 1, k + 1);
                if (coincides(segment, k, drawn.subList(0, i))) {
                    svg.polyline("casing", segment);
                }
                if (coincides(segment, k, drawn.subList(i + 1, drawn.size()))) {
                    svg.polyline(style + " wide", segment);
                }
            }
            if (!points.isEmpty()) {
                svg.polyline(style, points);
            }
        }
    }

    /** Returns whether one of other lines has a segment at the same place, to its point k. */
    private static boolean coincides(List<Point> segment, int k, List<List<Point>> others) {
        return others.stream()
                .anyMatch(other -> k < other.size()
                        && isNear(segment.getFirst(), other.get(k - 1))
                        && isNear(segment.getLast(), other.get(k)));
    }

    private static boolean isNear(Point one, Point other) {
        return Math.hypot(one.x() - other.x(), one.y() - other.y()) < NEAR;
    }

    private static StringBuilder outline(Band band, Axis x, Axis y) {
        StringBuilder path = new StringBuilder();
        int last = band.x().size() - 1;
        for (int i = 0; i <= last; i++) {
            path.append(i == 0 ? "M" : "L")
                    .append(corner(x.at(band.x().get(i)), y.at(band.high().get(i))));
        }
        for (int i = last; i >= 0; i--) {
            path.append("L")
                    .append(corner(x.at(band.x().get(i)), y.at(band.low().get(i))));
        }
        return path.append(last < 0 ? "" : "z");
    }

    private static String corner(double x, double y) {
        return Markup.at(x) + " " + Markup.at(y);
    }

    /** Returns the legend entry of a series, with its mark if points are marked. */
    private Block.Key key(Series line) {
        boolean isMarked = marks.stream().anyMatch(mark -> mark.style() == line.style());
        return line.x().isEmpty()
                ? new Block.Key("g g" + color(line.style()), line.name(), OptionalInt.of(shape(line.style())))
                : new Block.Key(
                        line("k", "k", line.style()),
                        line.name(),
                        isMarked ? OptionalInt.of(shape(line.style())) : OptionalInt.empty());
    }

    private static String label(String label, Axis axis) {
        return label + (axis.logarithmic() ? ", logarithmic" : "");
    }

    private DoubleStream allY() {
        DoubleStream drawn = DoubleStream.concat(
                Stream.concat(
                                series.stream().flatMap(line -> line.y().stream()),
                                bands.stream()
                                        .flatMap(band -> Stream.concat(band.low().stream(), band.high().stream())))
                        .mapToDouble(Double::doubleValue),
                marks.stream().mapToDouble(Mark::y));
        return DoubleStream.concat(drawn, limit.stream());
    }

    private double highestY() {
        return allY().max().orElse(0);
    }

    private Axis yAxis() {
        double high = Math.max(highestY(), extent.y());
        double low = allY().filter(value -> value > 0).min().orElse(1);
        double end = high > 0 ? high : 1;
        return yMayBeLogarithmic && high > FAR_UP * low
                ? Axis.logarithmic(low / MARGIN, high * MARGIN, BOTTOM, TOP)
                : new Axis(0, marks.isEmpty() ? end : end * MARGIN, BOTTOM, TOP, false, Axis.even(end));
    }

    private DoubleStream allX() {
        return series.stream().flatMap(line -> line.x().stream()).mapToDouble(Double::doubleValue);
    }

    private double lastX() {
        return allX().max().orElse(1);
    }

    private Axis xAxis() {
        double high = Math.max(lastX(), extent.x());
        double low = allX().filter(value -> value > 0).min().orElse(1);
        double end = marks.stream().mapToDouble(Mark::x).reduce(high > 0 ? high : 1, Math::max);
        return mayBeLogarithmic && high > FAR * low
                ? Axis.logarithmic(Math.max(low, high / 1e6), end, LEFT, RIGHT)
                : new Axis(0, marks.isEmpty() ? end : end * MARGIN, LEFT, RIGHT, false, Axis.even(end));
    }

    /** Returns the number of other styles whose marks are drawn above a mark. */
    private long above(Mark mark, Axis x, Axis y) {
        Point at = new Point(x.at(mark.x()), y.at(mark.y()));
        return marks.stream()
                .dropWhile(other -> !other.equals(mark))
                .filter(other -> other.label().isEmpty()
                        && other.hollow() == mark.hollow()
                        && other.style() != mark.style()
                        && isNear(at, new Point(x.at(other.x()), y.at(other.y()))))
                .map(Mark::style)
                .distinct()
                .count();
    }

    private void mark(Svg svg, Mark mark, Axis x, Axis y) {
        double at = x.at(mark.x());
        double height = y.at(mark.y());
        if (mark.label().isEmpty()) {
            svg.mark(
                    (mark.hollow() ? "h" : "m") + color(mark.style()),
                    shape(mark.style()),
                    at,
                    height,
                    (mark.hollow() ? 4.5 : 3.5) + 2 * above(mark, x, y));
            return;
        }
        List<Mark> earlier = marks.stream()
                .takeWhile(other -> !other.equals(mark))
                .filter(other -> !other.label().isEmpty())
                .toList();
        Predicate<Mark> isHere = other -> !other.label().isEmpty()
                && Math.abs(x.at(other.x()) - at) < RING
                && Math.abs(y.at(other.y()) - height) < RING;
        long rings = earlier.stream().filter(isHere).count();
        svg.circle("r" + color(mark.style()), at, height, RING * (1 + 0.4 * rings));
        if (rings > 0) {
            return;
        }
        List<String> labels =
                marks.stream().filter(isHere).map(Mark::label).distinct().toList();
        double width = labels.stream()
                        .mapToDouble(label -> Svg.width(label, LABEL_SIZE))
                        .max()
                        .orElse(0)
                + 8;
        double above = LABEL_HEIGHT
                * earlier.stream()
                        .filter(other -> Math.abs(x.at(other.x()) - at) < width
                                && Math.abs(y.at(other.y()) - height) < LABEL_HEIGHT)
                        .count();
        boolean isLeft = at - 12 - width >= LEFT;
        double first = isLeft
                ? Math.max(height + 4 - above, LABEL_HEIGHT * labels.size())
                : height + 24 + above + LABEL_HEIGHT * (labels.size() - 1);
        for (int i = 0; i < labels.size(); i++) {
            svg.text(
                    "label",
                    isLeft ? Anchor.END : Anchor.MIDDLE,
                    isLeft ? at - 12 : Math.max(at, LEFT + width / 2),
                    first - LABEL_HEIGHT * i,
                    labels.get(i));
        }
    }
}
