package io.roseinfer.bench.report.html;

import io.roseinfer.bench.report.BreakdownTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A chart of a latency's parts by rank: stacked columns for slices of the samples, from the shortest to the longest. A part that grows to
 * the right causes the tail.
 */
final class BreakdownByRank {
    private static final List<Double> PERCENTILES = List.of(0.0, 25.0, 50.0, 75.0, 100.0);

    private BreakdownByRank() {}

    /**
     * Returns the figure; empty without slices.
     *
     * @param latency name of the latency
     * @param of name of the samples
     */
    static Optional<Block.Figure> figure(String latency, String of, BreakdownTable parts) {
        Map<String, List<Double>> slices = parts.slices();
        int columns = slices.values().stream().mapToInt(List::size).min().orElse(0);
        if (columns == 0) {
            return Optional.empty();
        }
        double highest = 1e-9;
        for (int i = 0; i < columns; i++) {
            int column = i;
            highest = Math.max(
                    highest,
                    slices.values().stream()
                            .mapToDouble(part -> drawn(part, column))
                            .sum());
        }
        Axis ranks = new Axis(0, 100, Chart.LEFT, Chart.RIGHT, false, PERCENTILES);
        Axis millis = Axis.upTo(highest, Chart.BOTTOM, Chart.TOP);
        Svg svg = new Svg()
                .below(ranks, Chart.TOP, Chart.BOTTOM, "% of " + of + ", the shortest first")
                .leftOf(millis, Chart.LEFT, Chart.RIGHT, latency + ", ms");
        List<Block.Key> legend = new ArrayList<>();
        double[] below = new double[columns];
        int style = 0;
        for (Map.Entry<String, List<Double>> part : slices.entrySet()) {
            StringBuilder path = path(part.getValue(), ranks, millis, below);
            if (!path.isEmpty()) {
                svg.path(BreakdownSection.color("b", style), path);
                legend.add(BreakdownSection.key(style, part.getKey()));
            }
            style++;
        }
        return Optional.of(new Block.Figure(latency + " by percentile", Chart.HEIGHT, svg, legend, List.of()));
    }

    /** Returns the drawn height of a part. Negative parts, from timestamps out of order, are not drawn. */
    private static double drawn(List<Double> part, int column) {
        return Math.max(0, part.get(column));
    }

    /** Returns the path of one part in every column, and adds its heights to those below it. */
    private static StringBuilder path(List<Double> part, Axis ranks, Axis millis, double... below) {
        StringBuilder path = new StringBuilder();
        double width = (ranks.to() - ranks.from()) / below.length;
        for (int i = 0; i < below.length; i++) {
            double bottom = millis.at(below[i]);
            below[i] += drawn(part, i);
            double tall = bottom - millis.at(below[i]);
            if (tall >= 0.05) {
                path.append(String.format(
                        Locale.ROOT,
                        "M%.2f %.1fh%.2fv%.1fh%.2fz",
                        ranks.at(100.0 * i / below.length),
                        bottom,
                        width,
                        -tall,
                        -width));
            }
        }
        return path;
    }
}
