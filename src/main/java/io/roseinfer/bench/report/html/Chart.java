package io.roseinfer.bench.report.html;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A line chart as SVG. Its colours are classes of the page's style sheet, so it follows the page into the dark and onto paper. */
final class Chart {
    private static final double WIDTH = 640;
    private static final double HEIGHT = 300;
    private static final double LEFT = 76;
    private static final double RIGHT = 14;
    private static final double TOP = 14;
    private static final double BOTTOM = 50;

    /** From here on the smallest and the largest value are too far apart for an even axis. */
    private static final double FAR = 50;

    private static final int TICKS = 5;

    private static final double LABEL_WIDTH = 40;
    private static final double LABEL_HEIGHT = 14;

    /** The style of a line that is of no series in particular. */
    static final int NEUTRAL = 6;

    /**
     * One line.
     *
     * @param name in the legend
     * @param style which of the page's line styles, 0 to 5, or {@link #NEUTRAL}
     * @param x ascending; empty for one that has marks alone
     * @param y as many
     */
    record Series(String name, int style, List<Double> x, List<Double> y) {
        /** More points cannot be told apart. */
        private static final int QUANTILES = 200;

        /** A distribution: to each value the percentage of samples that are at most as large. */
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
     * A point that is drawn as one.
     *
     * @param style which of the page's colours, 0 to 5
     * @param label beside it; a mark with one is a ring around the point
     * @param hollow whether it is drawn as a circle and not as a disc, and above these
     */
    record Mark(int style, double x, double y, String label, boolean hollow) {}

    private final String title;
    private final String xLabel;
    private final String yLabel;
    private final List<Series> series;
    private List<Mark> marks = List.of();
    private final boolean logarithmic;
    private final double xLow;
    private double xHigh;
    private double yHigh;

    /**
     * A chart of lines.
     *
     * @param mayBeLogarithmic whether the horizontal axis may be, if values are far apart
     */
    Chart(String title, String xLabel, String yLabel, List<Series> series, boolean mayBeLogarithmic) {
        this.title = title;
        this.xLabel = xLabel;
        this.yLabel = yLabel;
        this.series = List.copyOf(series);
        List<Double> all = series.stream().flatMap(line -> line.x().stream()).toList();
        double high = all.stream().mapToDouble(Double::doubleValue).max().orElse(1);
        double low = all.stream()
                .mapToDouble(Double::doubleValue)
                .filter(value -> value > 0)
                .min()
                .orElse(1);
        this.logarithmic = mayBeLogarithmic && high > FAR * low;
        this.xHigh = high > 0 ? high : 1;
        this.xLow = logarithmic ? Math.max(low, high / 1e6) : 0;
        this.yHigh = Math.max(
                1e-9,
                series.stream()
                        .flatMap(line -> line.y().stream())
                        .mapToDouble(Double::doubleValue)
                        .max()
                        .orElse(1));
    }

    /** Adds points, and widens the axes to where the last of them stands; returns this chart. */
    Chart withMarks(List<Mark> value) {
        marks = List.copyOf(value);
        xHigh = marks.stream().mapToDouble(Mark::x).reduce(xHigh, Math::max);
        yHigh = marks.stream().mapToDouble(Mark::y).reduce(yHigh, Math::max);
        return this;
    }

    private double x(double value) {
        double share = logarithmic
                ? Math.log(Math.max(value, xLow) / xLow) / Math.log(xHigh / xLow)
                : (value - xLow) / (xHigh - xLow);
        return LEFT + share * (WIDTH - LEFT - RIGHT);
    }

    private double y(double value) {
        return HEIGHT - BOTTOM - value / yHigh * (HEIGHT - TOP - BOTTOM);
    }

    /** The chart with its title and legend. */
    String svg() {
        StringBuilder out = new StringBuilder("<figure><figcaption>" + Markup.text(title) + "</figcaption>");
        out.append("<svg viewBox=\"0 0 640 300\" role=\"img\" aria-label=\"")
                .append(Markup.text(title))
                .append("\">");
        axes(out);
        series.stream()
                .filter(line -> !line.x().isEmpty())
                .forEach(line -> out.append("<polyline class=\"s")
                        .append(line.style())
                        .append("\" points=\"")
                        .append(points(line))
                        .append("\"/>"));
        marks.stream().filter(mark -> !mark.hollow()).forEach(mark -> mark(out, mark));
        marks.stream().filter(Mark::hollow).forEach(mark -> mark(out, mark));
        out.append("</svg>");
        if (series.size() > 1) {
            out.append("<p class=\"legend\">");
            series.forEach(line -> out.append("<span><i class=\"k")
                    .append(line.style())
                    .append("\"></i>")
                    .append(Markup.text(line.name()))
                    .append("</span> "));
            out.append("</p>");
        }
        return out.append("</figure>\n").toString();
    }

    private void mark(StringBuilder out, Mark mark) {
        String at = Markup.at(x(Math.min(mark.x(), xHigh)));
        String height = Markup.at(y(Math.min(mark.y(), yHigh)));
        boolean named = !mark.label().isEmpty();
        out.append("<circle class=\"" + (named ? "r" : mark.hollow() ? "h" : "m") + mark.style() + "\" cx=\"" + at
                + "\" cy=\"" + height + "\" r=\"" + (named ? 8 : mark.hollow() ? 4.5 : 3.5) + "\"/>");
        if (named && marks.stream().takeWhile(other -> !other.equals(mark)).noneMatch(other -> isOver(other, mark))) {
            out.append("<text class=\"label\" text-anchor=\"end\" dx=\"-12\" dy=\"4\" x=\"" + at + "\" y=\"" + height
                    + "\">" + Markup.text(mark.label()) + "</text>");
        }
    }

    /** Returns whether the labels of two marks would be drawn over each other. */
    private boolean isOver(Mark one, Mark other) {
        return !one.label().isEmpty()
                && Math.abs(x(one.x()) - x(other.x())) < LABEL_WIDTH
                && Math.abs(y(one.y()) - y(other.y())) < LABEL_HEIGHT;
    }

    private String points(Series line) {
        List<String> points = new ArrayList<>();
        for (int i = 0; i < line.x().size(); i++) {
            points.add(
                    Markup.at(x(line.x().get(i))) + "," + Markup.at(y(line.y().get(i))));
        }
        return String.join(" ", points);
    }

    private void axes(StringBuilder out) {
        for (double tick : xTicks()) {
            String at = Markup.at(x(tick));
            out.append("<line class=\"grid\" x1=\"" + at + "\" x2=\"" + at + "\" y1=\"" + TOP + "\" y2=\""
                    + (HEIGHT - BOTTOM) + "\"/><text class=\"tick\" text-anchor=\"middle\" x=\"" + at + "\" y=\""
                    + (HEIGHT - BOTTOM + 18) + "\">" + Markup.tick(tick) + "</text>");
        }
        for (double tick : even(yHigh)) {
            String at = Markup.at(y(tick));
            out.append("<line class=\"grid\" x1=\"" + LEFT + "\" x2=\"" + (WIDTH - RIGHT) + "\" y1=\"" + at + "\" y2=\""
                    + at + "\"/><text class=\"tick\" text-anchor=\"end\" x=\"" + (LEFT - 6) + "\" y=\"" + at
                    + "\" dy=\"4\">" + Markup.tick(tick) + "</text>");
        }
        out.append("<text class=\"label\" text-anchor=\"middle\" x=\"" + (LEFT + WIDTH - RIGHT) / 2 + "\" y=\""
                + (HEIGHT - 8) + "\">" + Markup.text(xLabel + (logarithmic ? ", logarithmic" : "")) + "</text>");
        double middle = (TOP + HEIGHT - BOTTOM) / 2;
        out.append("<text class=\"label\" text-anchor=\"middle\" x=\"16\" y=\"" + middle
                + "\" transform=\"rotate(-90 16 " + middle + ")\">" + Markup.text(yLabel) + "</text>");
    }

    private List<Double> xTicks() {
        if (!logarithmic) {
            return even(xHigh);
        }
        List<Double> ticks = new ArrayList<>();
        for (double decade = Math.pow(10, Math.floor(Math.log10(xLow))); decade <= xHigh; decade *= 10) {
            for (double tick : new double[] {decade, 2 * decade, 5 * decade}) {
                if (tick >= xLow && tick <= xHigh) {
                    ticks.add(tick);
                }
            }
        }
        return ticks.size() <= 2 * TICKS
                ? ticks
                : ticks.stream()
                        .filter(tick -> Math.abs(Math.log10(tick) - Math.rint(Math.log10(tick))) < 1e-9)
                        .collect(Collectors.toList());
    }

    /** Round values from 0 to the highest. */
    static List<Double> even(double high) {
        double rough = high / TICKS;
        double decade = Math.pow(10, Math.floor(Math.log10(rough)));
        double step = decade * (rough > 5 * decade ? 10 : rough > 2 * decade ? 5 : rough > decade ? 2 : 1);
        List<Double> ticks = new ArrayList<>();
        for (int i = 0; i * step <= high * (1 + 1e-9); i++) {
            ticks.add(i * step);
        }
        return ticks;
    }
}
