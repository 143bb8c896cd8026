package io.roseinfer.bench.report.html;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The KV blocks that requests hold over a run, by the engine's steps: a line for each engine. */
final class KvCourse {
    private static final int SLICES = 200;
    private static final int STYLES = 6;
    private static final double MILLIS_PER_SECOND = 1e3;

    private KvCourse() {}

    /**
     * The chart; nothing for a run whose file has no steps, or not the size of the pool.
     *
     * @param of what its title adds
     */
    static String svg(ShownRun run, String of) {
        ShownRun.Engine engine = run.engine();
        if (engine.steps().isEmpty() || engine.kvBlocks() <= 0) {
            return "";
        }
        int engines =
                engine.steps().stream().mapToInt(ShownRun.Step::engine).max().orElse(0) + 1;
        List<Chart.Series> series = new ArrayList<>();
        for (int number = 0; number < engines; number++) {
            int which = number;
            List<ShownRun.Step> steps = engine.steps().stream()
                    .filter(step -> step.engine() == which)
                    .toList();
            if (!steps.isEmpty()) {
                series.add(series("engine " + number, number % STYLES, steps, engine.kvBlocks()));
            }
        }
        String title = "KV blocks held by requests, of " + Markup.number(engine.kvBlocks()) + of;
        return new Chart(title, "s", "blocks", series, false).svg();
    }

    /** The most blocks in each slice of time; none where no step runs, as an engine rests when nobody holds a block. */
    private static Chart.Series series(String name, int style, List<ShownRun.Step> steps, int kvBlocks) {
        double end = steps.stream().mapToDouble(ShownRun.Step::end).max().orElse(1);
        double slice = Math.max(end, 1e-3) / SLICES;
        double[] held = new double[SLICES];
        for (ShownRun.Step step : steps) {
            int last = slice(step.end(), slice);
            for (int i = slice(step.start(), slice); i <= last; i++) {
                held[i] = Math.max(held[i], (double) kvBlocks - step.freeBlocks());
            }
        }
        List<Double> seconds = IntStream.range(0, SLICES)
                .mapToObj(i -> (i + 0.5) * slice / MILLIS_PER_SECOND)
                .toList();
        return new Chart.Series(
                name, style, seconds, Arrays.stream(held).boxed().toList());
    }

    private static int slice(double millis, double slice) {
        return Math.clamp((long) (millis / slice), 0, SLICES - 1);
    }
}
