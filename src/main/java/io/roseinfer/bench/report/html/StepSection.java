package io.roseinfer.bench.report.html;

import io.roseinfer.bench.SchedulerRun;
import io.roseinfer.bench.StepCost;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.bench.report.ModelResult;
import io.roseinfer.bench.report.SchedulerResult;
import io.roseinfer.bench.report.StepCostResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The sections of benchmarks without a load: model steps, the scheduler's time per step, and the scheduler driven directly. */
final class StepSection {
    private static final double NANOS_PER_MILLI = 1e6;

    private StepSection() {}

    static List<Block> blocks(String name, ModelResult result) {
        List<Block.Figure> figures = new ArrayList<>();
        for (String kind : List.of("prefill", "decode")) {
            boolean decodes = kind.equals("decode");
            Chart.Series line = series(
                    kind,
                    decodes ? 1 : 0,
                    result.points().stream()
                            .filter(point -> point.kind().equals(kind))
                            .toList(),
                    point -> (double) point.rows() * point.tokens(),
                    point -> point.stepMillis().median());
            chart(
                    figures,
                    decodes ? "A decode step" : "A prefill step",
                    decodes ? "rows" : "prompt tokens",
                    "step time, ms",
                    List.of(line));
        }
        List<List<String>> rows = result.points().stream()
                .map(point -> List.of(
                        point.kind(),
                        Markup.number(point.rows()),
                        Markup.number((double) point.tokens()),
                        Markup.number(point.stepMillis().median()),
                        Markup.number(point.stepMillis().min()),
                        Markup.number(point.stepMillis().max()),
                        Markup.number(point.throughputTokS())))
                .toList();
        List<Block> blocks = new ArrayList<>(
                List.of(
                        Block.Heading.of("Steps of the model: " + name),
                        new Block.Figures(figures),
                        new Block.Table(
                                List.of("step", "rows", "tokens a row", "ms", "min ms", "max ms", "tokens/s"), rows),
                        new Block.Paragraph(
                                "The time of a step is the median over the runs, with the fastest and the slowest run; tokens/s use the median.")));
        measuredOn(blocks, result.environment(), result.settings());
        return blocks;
    }

    static List<Block> blocks(String name, StepCostResult result) {
        Map<Integer, List<StepCost>> byWaiting = new LinkedHashMap<>();
        result.points()
                .forEach(point -> byWaiting
                        .computeIfAbsent(point.waiting(), waiting -> new ArrayList<>())
                        .add(point));
        List<Chart.Series> lines = new ArrayList<>();
        byWaiting.forEach((waiting, points) -> lines.add(series(
                Markup.number(waiting) + " waiting",
                Chart.style(lines.size()),
                points,
                StepCost::running,
                point -> point.totalMicros().p50())));
        List<Block.Figure> figures = new ArrayList<>();
        chart(figures, "Plan, pack and apply, median", "running requests", "us", lines);
        List<List<String>> rows = result.points().stream()
                .map(point -> List.of(
                        "" + point.running(),
                        Markup.number(point.waiting()),
                        Markup.number(point.planMicros().p50()),
                        Markup.number(point.packMicros().p50()),
                        Markup.number(point.applyMicros().p50()),
                        Markup.number(point.totalMicros().p50()),
                        Markup.number(point.totalMicros().p99()),
                        Markup.number(point.stepsPerSecond()),
                        point.admitMicros().count() == 0
                                ? "–"
                                : Markup.number(point.admitMicros().p50())))
                .toList();
        List<Block> blocks = new ArrayList<>(List.of(
                Block.Heading.of("Scheduler time per step: " + name),
                new Block.Figures(figures),
                new Block.Table(
                        List.of(
                                "running",
                                "waiting",
                                "plan us",
                                "pack us",
                                "apply us",
                                "total us",
                                "p99 us",
                                "steps/s",
                                "admit us"),
                        rows),
                new Block.Paragraph(
                        "Medians over the steps of a point; total: plan, pack and apply of a decode step; admit: the total of a step that"
                                + " admits a waiting request.")));
        measuredOn(blocks, result.environment(), result.settings());
        return blocks;
    }

    static List<Block> blocks(String name, SchedulerResult result) {
        List<Block.Figure> figures = new ArrayList<>();
        distribution(figures, "Time to first token", result.runs(), SchedulerRun.RequestTimes::ttftNanos);
        distribution(figures, "Latency of a request", result.runs(), SchedulerRun.RequestTimes::latencyNanos);
        List<List<String>> rows = result.overRuns().entrySet().stream()
                .map(metric -> List.of(
                        metric.getKey().replace('_', ' '),
                        Markup.number(metric.getValue().median()),
                        Markup.number(metric.getValue().min()),
                        Markup.number(metric.getValue().max())))
                .toList();
        List<Block> blocks = new ArrayList<>(
                List.of(
                        Block.Heading.of("The scheduler driven directly, " + result.mode() + ": " + name),
                        new Block.Figures(figures),
                        new Block.Table(
                                List.of("over " + result.runs().size() + " runs", "median", "min", "max"), rows),
                        new Block.Paragraph(
                                "A latency starts when the request is added; the value of a run is the median over its requests.")));
        measuredOn(blocks, result.environment(), result.settings());
        return blocks;
    }

    private static void distribution(
            List<Block.Figure> figures,
            String title,
            List<SchedulerRun> runs,
            ToLongFunction<SchedulerRun.RequestTimes> nanos) {
        List<Chart.Series> lines = new ArrayList<>();
        for (SchedulerRun run : runs) {
            double[] millis = run.requests().stream()
                    .mapToDouble(request -> nanos.applyAsLong(request) / NANOS_PER_MILLI)
                    .sorted()
                    .toArray();
            lines.add(Chart.Series.quantiles("run " + (lines.size() + 1), Chart.style(lines.size()), millis));
        }
        chart(figures, title, "ms", "% of requests at most", lines);
    }

    private static <T> Chart.Series series(
            String name, int style, List<T> points, ToDoubleFunction<T> x, ToDoubleFunction<T> y) {
        List<T> ordered = points.stream().sorted(Comparator.comparingDouble(x)).toList();
        return new Chart.Series(
                name,
                style,
                ordered.stream().map(x::applyAsDouble).toList(),
                ordered.stream().map(y::applyAsDouble).toList());
    }

    /** Adds a chart, if any line has two points. */
    private static void chart(
            List<Block.Figure> figures, String title, String xLabel, String yLabel, List<Chart.Series> lines) {
        if (lines.stream().anyMatch(line -> line.x().size() > 1)) {
            figures.add(new Chart(title, xLabel, yLabel, lines, true).figure());
        }
    }

    private static void measuredOn(
            List<Block> blocks, Environment environment, Map<String, @Nullable Object> settings) {
        blocks.add(new Block.Heading(3, "Environment and settings"));
        blocks.add(Block.Terms.code(ShownRun.about(environment, settings)));
    }
}
