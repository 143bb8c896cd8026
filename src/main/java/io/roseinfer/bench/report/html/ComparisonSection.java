package io.roseinfer.bench.report.html;

import io.roseinfer.bench.compare.Comparison;
import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.bench.compare.ComparisonResult;
import io.roseinfer.bench.compare.OfRuns;
import io.roseinfer.bench.compare.PairedRatio;
import io.roseinfer.bench.compare.Study;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ResultJson;
import io.roseinfer.bench.report.RunMetrics;
import io.roseinfer.metrics.Summary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

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

    private static final int MAX_CLIPPED = 2;

    /** Minimum distance from 1 of clipped intervals: as a factor, and in multiples of all others' logarithms. */
    private static final double FAR = 3;

    private static final double FARTHER = 4;

    /** Width of the numbers of clipped intervals. */
    private static final double NUMBERS = 140;

    private static final String AXIS = "B / A, logarithmic";

    /** Styles of changes. */
    private static final int BETTER = 7;

    private static final int WORSE = 4;

    private final String name;
    private final ComparisonResult.Own own;
    /** Whether an arm's times are extrapolated, so that no change is better or worse. */
    private final boolean isExtrapolated;

    private ComparisonSection(String name, ComparisonResult result) {
        this.name = name;
        this.own = result.roseinfer();
        this.isExtrapolated = !Comparison.extrapolated(own.pairs()).isEmpty();
    }

    static List<Block> blocks(String name, ComparisonResult result) {
        return new ComparisonSection(name, result).blocks();
    }

    /** Returns the environments of a study's runs in one line; empty if unknown. */
    static String machines(List<OfRuns> machines) {
        return machines.stream()
                .map(machine -> machine.runs().isEmpty() ? machine.value() : machine.runs() + ": " + machine.value())
                .collect(Collectors.joining("; "));
    }

    /** Returns an environment in words. */
    static Optional<String> machine(Environment environment) {
        return Optional.of(String.join(", ", ResultJson.flat(environment).values()));
    }

    /** Returns the sources of simulated times. */
    static List<OfRuns> simulated(Study study) {
        return OfRuns.arms(study, Environment::simulated);
    }

    private static double percent(double ratio) {
        return 100 * (ratio - 1);
    }

    private List<Block> blocks() {
        List<Block.Figure> figures = new ArrayList<>();
        Map<String, PairedRatio> shown = shown();
        if (!shown.isEmpty()) {
            figures.add(intervals(shown));
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
                        new Block.Term(
                                "Measured on",
                                machines(OfRuns.arms(own.study(), ComparisonSection::machine)),
                                false))));
    }

    private static String flags(List<String> words) {
        return words.isEmpty() ? "no additional flags" : Markup.command(words);
    }

    private Block.Verdict verdict() {
        boolean isUndecided = Comparison.isExtrapolated(own.pairs(), own.metric());
        boolean worse = own.worse().orElse(false);
        Block.Verdict verdict = new Block.Verdict(
                        own.worse().isEmpty() || isUndecided
                                ? Block.Tone.WARN
                                : worse ? Block.Tone.BAD : Block.Tone.GOOD)
                .simulated(simulated(own.study()))
                .strong(Markup.metric(own.metric()));
        PairedRatio decides = own.ratios().get(own.metric());
        if (isUndecided) {
            verdict.text(" is ")
                    .strong("undecided")
                    .text(": " + ComparisonReport.extrapolated(own.pairs()) + ". " + ComparisonReport.UNCORRECTED);
        } else if (decides == null) {
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
            ComparisonReport.caution(
                            new Comparison(own.pairs(), own.ratios()),
                            own.metric(),
                            own.study().environments())
                    .ifPresent(caution -> verdict.text(" " + caution + "."));
            verdict.text(" " + own.pairs().size() + " pairs detect changes of "
                    + ComparisonReport.detected(decides) + " with a power of 80 %. "
                    + ComparisonReport.UNCORRECTED);
        }
        if (!simulated(own.study()).isEmpty()) {
            verdict.text(" " + ComparisonReport.SIMULATED);
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

    /** Returns the ratios in the chart: of the main metrics and the deciding one. */
    private Map<String, PairedRatio> shown() {
        Map<String, PairedRatio> shown = new LinkedHashMap<>(own.ratios());
        shown.keySet()
                .removeIf(metric -> !metric.equals(own.metric())
                        && !ComparisonReport.isShown(metric, own.study().shownPercentiles()));
        return shown;
    }

    /** Returns the factor beyond which intervals are clipped, if one or two are far from 1 and all others are near. */
    private double clip(Map<String, PairedRatio> shown) {
        List<Double> factors = shown.values().stream()
                .map(ComparisonSection::factor)
                .sorted(Comparator.reverseOrder())
                .toList();
        PairedRatio decides = shown.get(own.metric());
        for (int k = MAX_CLIPPED; k > 0; k--) {
            if (k < factors.size()) {
                double next = Math.max(factors.get(k), decides == null ? MIN_FACTOR : factor(decides));
                if (factors.get(k - 1) > FAR
                        && Math.log(factors.get(k - 1)) > FARTHER * Math.log(Math.max(next, MIN_FACTOR))) {
                    return Math.max(next, MIN_FACTOR);
                }
            }
        }
        return Double.POSITIVE_INFINITY;
    }

    /** Returns the larger distance of an interval's ends from 1. */
    private static double factor(PairedRatio ratio) {
        return Math.max(1 / ratio.low(), ratio.high());
    }

    /** Draws a line per metric with its interval and ratio, the deciding metric in bold. */
    private Block.Figure intervals(Map<String, PairedRatio> shown) {
        double clip = clip(shown);
        double left = shown.keySet().stream()
                .mapToDouble(metric -> 16 + CHARACTER * Markup.metric(metric).length())
                .max()
                .orElse(0);
        boolean isClippedLow = shown.values().stream().anyMatch(ratio -> ratio.low() < 1 / clip);
        boolean isClippedHigh = shown.values().stream().anyMatch(ratio -> ratio.high() > clip);
        DoubleStream ends = shown.values().stream()
                .flatMapToDouble(ratio -> DoubleStream.of(ratio.low(), ratio.high()))
                .map(end -> Math.clamp(end, 1 / clip, clip));
        Axis axis = axis(ends, left + (isClippedLow ? NUMBERS : 0), RIGHT - (isClippedHigh ? NUMBERS : 0));
        double bottom = TOP + ROW * shown.size();
        Svg svg = new Svg().below(axis, TOP, bottom, AXIS).line("zero", axis.at(1), TOP, axis.at(1), bottom);
        double y = TOP + ROW / 2;
        for (Map.Entry<String, PairedRatio> entry : shown.entrySet()) {
            PairedRatio ratio = entry.getValue();
            boolean decides = entry.getKey().equals(own.metric());
            int style = style(entry.getKey(), ratio);
            double low = Math.clamp(ratio.low(), axis.low(), axis.high());
            double high = Math.clamp(ratio.high(), axis.low(), axis.high());
            svg.text(decides ? "strong" : "tick", Svg.Anchor.END, left - 8, y + 4, Markup.metric(entry.getKey()))
                    .polyline("s" + style, List.of(new Svg.Point(axis.at(low), y), new Svg.Point(axis.at(high), y)));
            if (ratio.ratio() == Math.clamp(ratio.ratio(), axis.low(), axis.high())) {
                svg.mark("m" + style, style == WORSE ? WORSE : 0, axis.at(ratio.ratio()), y, 4);
            }
            if (high < ratio.high()) {
                arrow(svg, style, axis.to(), y, 1).text("tick", Svg.Anchor.END, Svg.WIDTH - 4, y + 4, numbers(ratio));
            }
            if (low > ratio.low()) {
                arrow(svg, style, axis.from(), y, -1)
                        .text(
                                "tick",
                                Svg.Anchor.END,
                                axis.from() - 8,
                                y + 4,
                                high < ratio.high() ? "" : numbers(ratio));
            }
            y += ROW;
        }
        List<Block.Key> legend = isExtrapolated
                ? List.of(new Block.Key("k" + Chart.NEUTRAL, "undecided"))
                : List.of(
                        new Block.Key("k" + BETTER, "better"),
                        new Block.Key("k" + WORSE, "worse", OptionalInt.of(WORSE)),
                        new Block.Key("k" + Chart.NEUTRAL, "no difference shown"));
        List<String> both = Stream.concat(own.a().stream(), own.b().stream()).toList();
        List<String> notes = new ArrayList<>(List.of(
                "A: " + flags(Markup.withoutDirectories(own.a(), both)),
                "B: " + flags(Markup.withoutDirectories(own.b(), both))));
        if (isClippedLow || isClippedHigh) {
            notes.add("Arrows: intervals that exceed the axis, with B / A and the interval in numbers.");
        }
        if (shown.size() < own.ratios().size()) {
            notes.add("The table of the HTML report also has the metrics of tenants and classes.");
        }
        return new Block.Figure("B / A with 98 % intervals", bottom + 50, svg, legend, notes);
    }

    /** Draws the head of an arrow to an end of the axis, with its tip there. */
    private static Svg arrow(Svg svg, int style, double x, double y, int direction) {
        double back = x - 8.0 * direction;
        return svg.path(
                "m" + style,
                new StringBuilder("M" + Markup.at(x) + " " + Markup.at(y) + "L" + Markup.at(back) + " "
                        + Markup.at(y - 5) + "L" + Markup.at(back) + " " + Markup.at(y + 5) + "z"));
    }

    private static String numbers(PairedRatio ratio) {
        return Markup.number(ratio.ratio()) + " (" + Markup.number(ratio.low()) + "–" + Markup.number(ratio.high())
                + ")";
    }

    /** Returns green for an improvement by the metric's direction, red for a regression, gray for neither and for extrapolated time. */
    private int style(String metric, PairedRatio ratio) {
        if (ratio.isEven() || isExtrapolated) {
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
        return new Block.Table(
                List.of(
                        "metric",
                        ComparisonReport.heading(own.pairs(), "median A", "a"),
                        ComparisonReport.heading(own.pairs(), "median B", "b"),
                        ComparisonReport.heading(own.pairs(), "B / A", "a", "b"),
                        "from",
                        "to",
                        "detects"),
                rows);
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
