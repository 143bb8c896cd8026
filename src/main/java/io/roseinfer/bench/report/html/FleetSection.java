package io.roseinfer.bench.report.html;

import io.roseinfer.bench.http.FleetUse;
import io.roseinfer.bench.http.FleetUse.Count;
import io.roseinfer.bench.http.FleetUse.EngineUse;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/** The section of a simulated fleet: a table with a row for each engine, and the numbers of engines over time. */
final class FleetSection {
    private static final List<String> HEAD = List.of(
            "",
            "requests",
            "failed",
            "output tokens",
            "steps",
            "tokens per step",
            "busy (%)",
            "used (s)",
            "failed at (s)");

    private static final int FAILURES = Chart.style(3);

    private FleetSection() {}

    /**
     * Returns the section.
     *
     * @param endS end of the run in seconds since its start
     */
    static List<Block> blocks(String name, FleetUse fleet, double endS) {
        List<Block> blocks = new ArrayList<>();
        blocks.add(Block.Heading.of("Engines of " + name));
        blocks.add(new Block.Table(
                HEAD, fleet.engines().stream().map(FleetSection::row).toList()));
        blocks.add(new Block.Paragraph("Engines were in use for " + Markup.number(fleet.engineSeconds())
                + " engine seconds, with their starts and drains."));
        if (fleet.counts().size() > 1) {
            blocks.add(new Block.Figures(List.of(chart(name, fleet, endS).figure())));
        }
        return blocks;
    }

    private static List<String> row(EngineUse engine) {
        double tokens = engine.outputTokens();
        double steps = engine.steps();
        return List.of(
                "engine " + engine.engine(),
                Markup.number(engine.requests()),
                Markup.number(engine.failed()),
                Markup.number(tokens),
                Markup.number(steps),
                Markup.number(tokens / Math.max(1, steps)),
                Markup.number(engine.usedS() == 0 ? 0 : 100 * engine.busyS() / engine.usedS()),
                Markup.number(engine.usedS()),
                engine.failedS().isPresent() ? Markup.number(engine.failedS().getAsDouble()) : "–");
    }

    private static Chart chart(String name, FleetUse fleet, double endS) {
        List<Chart.Series> series = new ArrayList<>();
        series.add(steps("serving", 0, fleet.counts(), Count::serving, endS));
        if (fleet.counts().stream().anyMatch(count -> count.starting() > 0)) {
            series.add(steps("starting", 1, fleet.counts(), Count::starting, endS));
        }
        if (fleet.counts().stream().anyMatch(count -> count.draining() > 0)) {
            series.add(steps("draining", 2, fleet.counts(), Count::draining, endS));
        }
        List<Chart.Mark> failures = fleet.engines().stream()
                .filter(engine -> engine.failedS().isPresent())
                .flatMap(engine ->
                        Stream.of("", "engine " + engine.engine()).map(label -> failure(engine, fleet.counts(), label)))
                .toList();
        if (!failures.isEmpty()) {
            series.add(new Chart.Series("an engine fails", FAILURES, List.of(), List.of()));
        }
        return new Chart("Number of engines of " + name, "seconds", "engines", series, false).withMarks(failures);
    }

    /** Returns a line that changes at once. */
    private static Chart.Series steps(
            String name, int number, List<Count> counts, ToIntFunction<Count> value, double endS) {
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        for (Count count : counts) {
            if (!y.isEmpty()) {
                x.add(count.s());
                y.add(y.getLast());
            }
            x.add(count.s());
            y.add((double) value.applyAsInt(count));
        }
        x.add(Math.max(endS, x.getLast()));
        y.add(y.getLast());
        return new Chart.Series(name, Chart.style(number), x, y);
    }

    /** Returns the mark of a failure, at the engines that serve from then on. */
    private static Chart.Mark failure(EngineUse engine, List<Count> counts, String label) {
        double at = engine.failedS().orElseThrow();
        int serving = counts.stream()
                .filter(count -> count.s() <= at)
                .reduce((earlier, later) -> later)
                .map(Count::serving)
                .orElse(0);
        return new Chart.Mark(FAILURES, at, serving, label, false);
    }
}
