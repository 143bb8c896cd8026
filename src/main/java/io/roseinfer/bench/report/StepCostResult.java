package io.roseinfer.bench.report;

import io.roseinfer.bench.StepCost;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@code bench scheduler} on the simulated device.
 *
 * @param schema 1; a change that breaks readers raises it
 * @param settings as {@link StreamingResult} has them
 * @param environment what it was measured on
 * @param points in the order they were measured; those that were over when the file was written
 */
public record StepCostResult(
        int schema, Map<String, @Nullable Object> settings, Environment environment, List<StepCost> points)
        implements BenchResult {
    /** Results of points. */
    public static StepCostResult of(
            Map<String, @Nullable Object> settings, Environment environment, List<StepCost> points) {
        return new StepCostResult(ResultKind.STEP_COST.schema(), settings, environment, List.copyOf(points));
    }

    @Override
    public List<Map<String, String>> table() {
        return points.stream().map(ResultJson::flat).toList();
    }
}
