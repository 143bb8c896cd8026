package io.roseinfer.bench.report;

import io.roseinfer.bench.StepCost;
import io.roseinfer.bench.StepCostBenchmark;
import io.roseinfer.engine.EngineOptions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The results of {@code roseinfer bench scheduler} on the simulated device, as a table, medians over the steps of a point, and as JSON;
 * {@link StepCost} defines the numbers.
 *
 * <p>The JSON has {@code schema}, {@code settings} and {@code environment} as {@link JsonReport} has them, and
 *
 * <pre>
 * points[]                         in the order they were measured; those that were over when the file was written
 *   running, waiting               requests that decode, and that wait behind them
 *   plan_us, pack_us, apply_us, total_us
 *                                  of decode steps, {count, p50, p95, p99, mean, max} in microseconds
 *   admit_us                       total_us of steps that admit one of those who wait, null where nobody does
 *   steps_per_s                    of the median total
 * </pre>
 */
public final class StepCostReport {
    private static final int SCHEMA = 1;

    private StepCostReport() {}

    /** The document. */
    public static ObjectNode json(Map<String, ?> settings, Environment environment, List<StepCost> costs) {
        ObjectNode root = JsonParts.document(SCHEMA, settings, environment);
        ArrayNode points = root.putArray("points");
        for (StepCost cost : costs) {
            ObjectNode point = points.addObject().put("running", cost.running()).put("waiting", cost.waiting());
            point.set("plan_us", JsonParts.summary(cost.planMicros()));
            point.set("pack_us", JsonParts.summary(cost.packMicros()));
            point.set("apply_us", JsonParts.summary(cost.applyMicros()));
            point.set("total_us", JsonParts.summary(cost.totalMicros()));
            point.set("admit_us", JsonParts.summary(cost.admitMicros()));
            point.put("steps_per_s", cost.stepsPerSecond());
        }
        return root;
    }

    /** The lines above the table, each ended by a newline. */
    public static String header(EngineOptions options, int steps) {
        return String.format(
                Locale.ROOT,
                """
                === scheduler cost per decode step ===
                Steps per point: %d, after as many to warm up
                Context: %d to %d tokens in blocks of %d
                Microseconds: medians; total: plan + pack + apply, steps/s: of it; admit: total of a step that takes in one who waits
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

    /** One line. */
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
