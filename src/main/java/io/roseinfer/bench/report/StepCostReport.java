package io.roseinfer.bench.report;

import io.roseinfer.bench.StepCost;
import io.roseinfer.bench.StepCostBenchmark;
import io.roseinfer.engine.EngineOptions;
import java.util.Locale;

/**
 * Formats the scheduler's times of {@code roseinfer bench scheduler} on the simulated device, as medians over the steps of a point;
 * {@link StepCost} defines the columns.
 */
public final class StepCostReport {
    private StepCostReport() {}

    /** Returns the lines above the table. Every line ends with a newline. */
    public static String header(EngineOptions options, int steps) {
        return String.format(
                Locale.ROOT,
                """
                === scheduler cost per decode step ===
                Steps per point: %d, after as many to warm up
                Context: %d to %d tokens in blocks of %d
                Microseconds: medians; total: plan + pack + apply, steps/s: of total; admit: total of a step that admits a request
                %8s %8s %9s %9s %9s %9s %9s %10s %9s
                """,
                steps,
                StepCostBenchmark.PROMPT_TOKENS + steps,
                StepCostBenchmark.PROMPT_TOKENS + 2 * steps,
                options.blockSize(),
                "running",
                "waiting",
                "plan",
                "pack",
                "apply",
                "total",
                "p99",
                "steps/s",
                "admit");
    }

    /** Returns a row of the table. */
    public static String row(StepCost cost) {
        return String.format(
                Locale.ROOT,
                "%8d %8d %9.2f %9.2f %9.2f %9.2f %9.2f %10.0f %9s\n",
                cost.running(),
                cost.waiting(),
                cost.planMicros().p50(),
                cost.packMicros().p50(),
                cost.applyMicros().p50(),
                cost.totalMicros().p50(),
                cost.totalMicros().p99(),
                cost.stepsPerSecond(),
                cost.admitMicros().count() == 0
                        ? "-"
                        : String.format(Locale.ROOT, "%.2f", cost.admitMicros().p50()));
    }
}
