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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The section of a comparison: the verdict, the intervals on one axis, and all metrics. */
final class ComparisonSection {
    private static final double LEFT = 190;
    private static final double RIGHT = Svg.WIDTH - 20;
    private static final double ROW = 22;
    private static final double TOP = 12;
    /** Minimum extent of the axis on either side of 0 %. */
    private static final double MIN_PERCENT = 1;

    /** Styles of the arms and of changes. */
    private static final int A = 0;

    private static final int B = 1;
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
        return List.of(
                Block.Heading.of(name.equals("ab") ? "A and B" : "A and B: " + name),
                verdict(),
                new Block.Figures(List.of(intervals(), ratios())),
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
                .strong(own.metric().replace('_', ' '));
        PairedRatio decides = own.ratios().get(own.metric());
        if (decides == null) {
            if (worse) {
                verdict.text(" is 0 in every run of one arm and in none of the other. ")
                        .strong("B is worse.");
            } else {
                verdict.text(
                        " has no ratio: it is 0 in some run, was not measured in every run, all pairs are equal, or there are too few pairs.");
            }
        } else {
            verdict.text(" changes by " + change(decides.ratio()) + " (" + change(decides.low()) + " to "
                    + change(decides.high()) + ") from A to B. ");
            verdict.strong(outcome(decides, worse));
            verdict.text(" " + own.pairs().size() + " pairs detect a change of "
                    + Markup.number(100 * decides.smallestEffect()) + " % with a power of 80 %. "
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
            return "No difference is shown.";
        }
        return ratio.ratio() > 1 == RunMetrics.isHigherBetter(own.metric())
                ? "B is better."
                : "B is worse, by no more than is allowed.";
    }

    private static String change(double ratio) {
        return String.format(Locale.ROOT, "%+.2f %%", percent(ratio));
    }

    /** Draws a line per metric with its interval and ratio, the deciding metric in bold. */
    private Block.Figure intervals() {
        double span = own.ratios().values().stream()
                .mapToDouble(ratio -> Math.max(Math.abs(percent(ratio.low())), Math.abs(percent(ratio.high()))))
                .reduce(MIN_PERCENT, Math::max);
        Axis axis = Axis.between(Math.max(-100, -span), span, Axis.step(span), LEFT, RIGHT);
        double bottom = TOP + ROW * own.ratios().size();
        Svg svg = new Svg().below(axis, TOP, bottom, "% of A");
        double y = TOP + ROW / 2;
        for (Map.Entry<String, PairedRatio> entry : own.ratios().entrySet()) {
            PairedRatio ratio = entry.getValue();
            boolean decides = entry.getKey().equals(own.metric());
            int style = style(entry.getKey(), ratio);
            svg.text(
                            decides ? "strong" : "tick",
                            Svg.Anchor.END,
                            LEFT - 8,
                            y + 4,
                            entry.getKey().replace('_', ' '))
                    .polyline(
                            "s" + style,
                            List.of(
                                    new Svg.Point(axis.at(percent(ratio.low())), y),
                                    new Svg.Point(axis.at(percent(ratio.high())), y)))
                    .mark("m" + style, style == WORSE ? WORSE : 0, axis.at(percent(ratio.ratio())), y, 4);
            y += ROW;
        }
        List<Block.Key> legend = List.of(
                new Block.Key("k" + BETTER, "better"),
                new Block.Key("k" + WORSE, "worse"),
                new Block.Key("k" + Chart.NEUTRAL, "no difference shown"));
        return new Block.Figure("Change from A to B, with 98 % intervals", bottom + 50, svg, legend, List.of());
    }

    /** Returns green for an improvement by the metric's direction, red for a regression, gray for neither. */
    private static int style(String metric, PairedRatio ratio) {
        if (ratio.isEven()) {
            return Chart.NEUTRAL;
        }
        return ratio.low() > 1 == RunMetrics.isHigherBetter(metric) ? BETTER : WORSE;
    }

    /** Returns the unit of a metric. */
    private static String unit(String metric) {
        return metric.contains("_ms")
                ? "ms"
                : metric.matches("(request|completion)_.*")
                        ? "requests/s"
                        : metric.startsWith("output_throughput") ? "tokens/s" : metric.replace('_', ' ');
    }

    /** Draws both runs of every pair in order, to show drift of the machine and outliers. */
    private Block.Figure ratios() {
        List<Chart.Mark> marks = new ArrayList<>();
        double number = 0;
        for (Comparison.Pair pair : own.pairs()) {
            number++;
            marks.add(new Chart.Mark(A, number, pair.a().getOrDefault(own.metric(), 0.0), "", false));
            marks.add(new Chart.Mark(B, number, pair.b().getOrDefault(own.metric(), 0.0), "", false));
        }
        return new Chart(
                        own.metric().replace('_', ' ') + ", pair by pair",
                        "pair",
                        unit(own.metric()),
                        List.of(
                                new Chart.Series("A", A, List.of(), List.of()),
                                new Chart.Series("B", B, List.of(), List.of())),
                        false)
                .withMarks(marks)
                .figure();
    }

    private Block.Table table() {
        List<List<String>> rows = new ArrayList<>();
        own.ratios().forEach((metric, ratio) -> {
            List<String> row = medians(metric);
            for (double end : new double[] {ratio.ratio(), ratio.low(), ratio.high()}) {
                row.add(String.format(Locale.ROOT, "%.4f", end));
            }
            row.add(String.format(Locale.ROOT, "%.2f %%", 100 * ratio.smallestEffect()));
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
                metric.replace('_', ' '),
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
