package io.roseinfer.bench.report.html;

import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** A chart of the KV blocks held by requests over a run, with a line per engine. */
final class KvUsageChart {
    private static final int SLICES = 200;
    private static final double NANOS_PER_SECOND = 1e9;

    private KvUsageChart() {}

    /**
     * Returns the chart; empty if the steps or the size of the pool are unknown.
     *
     * @param of suffix of the title
     */
    static Optional<Block.Figure> figure(ShownRun run, String of) {
        ShownRun.Engine engine = run.engine();
        if (engine.steps().isEmpty() || engine.kvBlocks() <= 0) {
            return Optional.empty();
        }
        List<Chart.Series> series = new ArrayList<>();
        engine.steps().stream()
                .mapToLong(step -> step.get(Fact.ENGINE))
                .distinct()
                .sorted()
                .forEach(number -> series.add(series(
                        (int) number,
                        engine.steps().stream()
                                .filter(step -> step.get(Fact.ENGINE) == number)
                                .toList(),
                        engine.kvBlocks())));
        String title = "KV blocks held by requests, of " + Markup.number(engine.kvBlocks()) + of;
        return Optional.of(new Chart(title, "time (s)", "blocks", series, false).figure());
    }

    /** Returns the maximum blocks in each slice of time; 0 without steps, as an idle engine's requests hold no blocks. */
    private static Chart.Series series(int engine, List<StepRecord> steps, int kvBlocks) {
        double end = steps.stream().mapToDouble(StepRecord::endNanos).max().orElse(1);
        double slice = Math.max(end, 1e3) / SLICES;
        double[] held = new double[SLICES];
        for (StepRecord step : steps) {
            int last = slice((double) step.endNanos(), slice);
            for (int i = slice((double) step.get(Fact.START_NANOS), slice); i <= last; i++) {
                held[i] = Math.max(held[i], (double) kvBlocks - step.get(Fact.FREE_BLOCKS));
            }
        }
        List<Double> seconds = IntStream.range(0, SLICES)
                .mapToObj(i -> (i + 0.5) * slice / NANOS_PER_SECOND)
                .toList();
        return new Chart.Series(
                "engine " + engine,
                Chart.style(engine),
                seconds,
                Arrays.stream(held).boxed().toList());
    }

    private static int slice(double nanos, double slice) {
        return Math.clamp((long) (nanos / slice), 0, SLICES - 1);
    }
}
