package io.roseinfer.bench.report.html;

import io.roseinfer.bench.compare.Comparison;
import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.bench.compare.ComparisonResult;
import io.roseinfer.bench.compare.PairedRatio;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.report.ResultJson;
import io.roseinfer.bench.report.RunMetrics;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/** The section of a comparison: the verdict, the intervals on one axis, and all metrics. */
final class ComparisonSection {
    /** Mean width of a character of a label on a narrow screen, where labels are larger. */
    private static final double CHARACTER = 9.2;

    private static final double RIGHT = Svg.WIDTH - 20;
    private static final double ROW = 22;
    private static final double TOP = 12;
    /** Minimum factor between 1 and either end of an axis. */
    private static final double MIN_FACTOR = 1.02;

    /** Ratio by which an axis exceeds its values. */
    private static final double MARGIN = 1.01;

    private static final String AXIS = "B / A, logarithmic";

    /** Styles of changes. */
    private static final int BETTER = 7;

    private static final int WORSE = 4;

    private final String name;
    private final ComparisonResult.Own own;

    private ComparisonSection(String name, ComparisonResult result) {
        this.name = name;
        this.own = result.roseinfer();
    }

    static List<Block> blocks(String name, ComparisonResult result) {
        return new ComparisonSection(name, result).blocks();
    }

    /** Returns the environments of a study's runs in one line; empty if unknown. */
    static String machines(Study study) {
        return study.environments().stream()
                .map(machine -> String.join(", ", ResultJson.flat(machine).values()))
                .collect(Collectors.joining("; "));
    }

    /** Returns the sources of a study's times if they are simulated. */
    static List<String> simulated(Study study) {
        return study.environments().stream()
                .flatMap(machine -> machine.simulated().stream())
                .distinct()
                .toList();
    }

    private static double percent(double ratio) {
        return 100 * (ratio - 1);
    }

    private List<Block> blocks() {
        List<Block.Figure> figures = new ArrayList<>();
        if (!own.ratios().isEmpty()) {
            figures.add(intervals());
        }
        byPair().ifPresent(figures::add);
        return List.of(
                Block.Heading.of(name.equals("ab") ? "A and B" : "A and B: " + name),
                verdict(),
                new Block.Figures(figures),
                table(),
                new Block.Terms(List.of(
                        new Block.Term("A", flags(own.a()), true),
                        new Block.Term("B", flags(own.b()), true),
                        new Block.Term("Both", flags(own.study().shared()), true),
                        new Block.Term(
                                "Command",
                                "roseinfer " + Markup.command(own.study().command()),
                                true),
                        new Block.Term("Measured on", machines(own.study()), false))));
    }

    private static String flags(List<String> words) {
        return words.isEmpty() ? "no additional flags" : Markup.command(words);
    }

    private Block.Verdict verdict() {
        boolean worse = own.worse().orElse(false);
        Block.Verdict verdict = new Block.Verdict(
                        own.worse().isEmpty() ? Block.Tone.WARN : worse ? Block.Tone.BAD : Block.Tone.GOOD)
                .simulated(simulated(own.study()))
                .strong(Markup.metric(own.metric()));
        PairedRatio decides = own.ratios().get(own.metric());
        if (decides == null) {
            if (worse) {
                verdict.text(" is 0 in every run of one arm and in none of the other. ")
                        .strong("B is worse.");
            } else {
                verdict.text(
                        " has no ratio: it is 0 in some run, was not measured in every run, all pairs are equal, or there are too few pairs.");
            }
        } else if (Comparison.isIdentical(own.pairs(), own.metric())) {
            verdict.text(" is " + ComparisonReport.IDENTICAL + ". ")
                    .strong("The flags of the arms have no effect on it.")
                    .text(" " + ComparisonReport.UNCORRECTED);
        } else {
            verdict.text(" changes by " + change(decides.ratio()) + " (" + change(decides.low()) + " to "
                    + change(decides.high()) + ") from A to B. ");
            verdict.strong(outcome(decides, worse));
            verdict.text(" " + own.pairs().size() + " pairs detect changes of "
                    + ComparisonReport.detected(decides) + " with a power of 80 %. "
                    + ComparisonReport.UNCORRECTED);
        }
        ComparisonReport.notes(own.pairs()).forEach(note -> verdict.text(" " + note + "."));
        return verdict.text(" " + own.discarded() + " pairs were discarded.");
    }

    private String outcome(PairedRatio ratio, boolean worse) {
        if (worse) {
            return "B is worse by more than is allowed.";
        }
        if (ratio.isEven()) {
            return "No difference shown.";
        }
        return ratio.ratio() > 1 == RunMetrics.isHigherBetter(own.metric())
                ? "B is better."
                : "B is worse, by no more than is allowed.";
    }

    private static String change(double ratio) {
        return String.format(Locale.ROOT, "%+.2f %%", percent(ratio));
    }

    /** Returns a logarithmic axis of ratios with 1 on it. */
    private static Axis axis(DoubleStream ratios, double from, double to) {
        DoubleSummaryStatistics extent = ratios.summaryStatistics();
        return Axis.logarithmic(
                Math.min(extent.getMin() / MARGIN, 1 / MIN_FACTOR),
                Math.max(extent.getMax() * MARGIN, MIN_FACTOR),
                from,
                to);
    }

    /** Draws a line per metric with its interval and ratio, the deciding metric in bold. */
    private Block.Figure intervals() {
        double left = own.ratios().keySet().stream()
                .mapToDouble(metric -> 16 + CHARACTER * Markup.metric(metric).length())
                .max()
                .orElse(0);
        Axis axis = axis(
                own.ratios().values().stream().flatMapToDouble(ratio -> DoubleStream.of(ratio.low(), ratio.high())),
                left,
                RIGHT);
        double bottom = TOP + ROW * own.ratios().size();
        Svg svg = new Svg().below(axis, TOP, bottom, AXIS).line("zero", axis.at(1), TOP, axis.at(1), bottom);
        double y = TOP + ROW / 2;
        for (Map.Entry<String, PairedRatio> entry : own.ratios().entrySet()) {
            PairedRatio ratio = entry.getValue();
            boolean decides = entry.getKey().equals(own.metric());
            int style = style(entry.getKey(), ratio);
            svg.text(decides ? "strong" : "tick", Svg.Anchor.END, left - 8, y + 4, Markup.metric(entry.getKey()))
                    .polyline(
                            "s" + style,
                            List.of(new Svg.Point(axis.at(ratio.low()), y), new Svg.Point(axis.at(ratio.high()), y)))
                    .mark("m" + style, style == WORSE ? WORSE : 0, axis.at(ratio.ratio()), y, 4);
            y += ROW;
        }
        List<Block.Key> legend = List.of(
                new Block.Key("k" + BETTER, "better"),
                new Block.Key("k" + WORSE, "worse"),
                new Block.Key("k" + Chart.NEUTRAL, "no difference shown"));
        List<String> arms = List.of("A: " + flags(own.a()), "B: " + flags(own.b()));
        return new Block.Figure("B / A with 98 % intervals", bottom + 50, svg, legend, arms);
    }

    /** Returns green for an improvement by the metric's direction, red for a regression, gray for neither. */
    private static int style(String metric, PairedRatio ratio) {
        if (ratio.isEven()) {
            return Chart.NEUTRAL;
        }
        return ratio.low() > 1 == RunMetrics.isHigherBetter(metric) ? BETTER : WORSE;
    }

    /** Draws the ratio of every pair in order, to show drift of the machine and outliers; empty without ratios. */
    private Optional<Block.Figure> byPair() {
        List<Svg.Point> ratios = new ArrayList<>();
        for (int i = 0; i < own.pairs().size(); i++) {
            double a = own.pairs().get(i).a().getOrDefault(own.metric(), 0.0);
            double b = own.pairs().get(i).b().getOrDefault(own.metric(), 0.0);
            if (a > 0 && b > 0) {
                ratios.add(new Svg.Point(i + 1.0, b / a));
            }
        }
        if (ratios.isEmpty()) {
            return Optional.empty();
        }
        Axis pairs = new Axis(
                0,
                own.pairs().size() + 1.0,
                Chart.LEFT,
                Chart.RIGHT,
                false,
                Axis.even(own.pairs().size()));
        Axis axis = axis(ratios.stream().mapToDouble(Svg.Point::y), Chart.BOTTOM, Chart.TOP);
        Svg svg = new Svg()
                .below(pairs, Chart.TOP, Chart.BOTTOM, "pair")
                .leftOf(axis, Chart.LEFT, Chart.RIGHT, AXIS)
                .line("zero", Chart.LEFT, axis.at(1), Chart.RIGHT, axis.at(1));
        ratios.forEach(pair -> svg.mark("m0", 0, pairs.at(pair.x()), axis.at(pair.y()), 4));
        return Optional.of(new Block.Figure(
                Markup.metric(own.metric()) + ", B / A of each pair", Chart.HEIGHT, svg, List.of(), List.of()));
    }

    private Block.Table table() {
        List<List<String>> rows = new ArrayList<>();
        own.ratios().forEach((metric, ratio) -> {
            List<String> row = medians(metric);
            if (Comparison.isIdentical(own.pairs(), metric)) {
                row.addAll(List.of("1.0000", ComparisonReport.IDENTICAL));
                rows.add(row);
                return;
            }
            for (double end : new double[] {ratio.ratio(), ratio.low(), ratio.high()}) {
                row.add(String.format(Locale.ROOT, "%.4f", end));
            }
            row.add(ComparisonReport.detected(ratio));
            rows.add(row);
        });
        own.zeros().forEach(metric -> {
            List<String> row = medians(metric);
            row.add("0 in some run");
            rows.add(row);
        });
        return new Block.Table(List.of("metric", "median A", "median B", "B / A", "from", "to", "detects"), rows);
    }

    private List<String> medians(String metric) {
        return new ArrayList<>(List.of(
                Markup.metricWithUnit(metric),
                Markup.number(median(metric, Comparison.Pair::a)),
                Markup.number(median(metric, Comparison.Pair::b))));
    }

    private double median(String metric, Function<Comparison.Pair, Map<String, Double>> arm) {
        return Summary.of(own.pairs().stream()
                        .mapToDouble(pair -> arm.apply(pair).getOrDefault(metric, 0.0))
                        .toArray())
                .p50();
    }
}
