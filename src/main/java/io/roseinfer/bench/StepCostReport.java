package io.roseinfer.bench;

import io.roseinfer.engine.EngineOptions;
import java.util.Locale;

/** The text of {@code roseinfer bench scheduler} on the simulated device: a table, medians over the steps of a point. */
public final class StepCostReport {
    private StepCostReport() {}

    /** What stands above the table, every line ended by a newline. */
    public static String header(EngineOptions options, int steps) {
        return String.format(
                Locale.ROOT,
                """
                === scheduler cost per decode step ===
                Steps per point: %d, after as many to warm up
                Context: %d to %d tokens in blocks of %d
                Microseconds: medians; steps/s: of plan + pack + apply
                %8s %8s %9s %9s %9s %9s %9s %10s
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
                "steps/s");
    }

    /** One line. */
    public static String row(StepCost cost) {
        return String.format(
                Locale.ROOT,
                "%8d %8d %9.2f %9.2f %9.2f %9.2f %9.2f %10.0f\n",
                cost.running(),
                cost.waiting(),
                cost.planMicros().p50(),
                cost.packMicros().p50(),
                cost.applyMicros().p50(),
                cost.totalMicros().p50(),
                cost.totalMicros().p99(),
                cost.stepsPerSecond());
    }
}
