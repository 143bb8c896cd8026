package io.roseinfer.bench.report;

import io.roseinfer.bench.StepCost;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@code bench scheduler} on the simulated device.
 *
 * @param schema 1; raised by changes that break readers
 * @param settings as in {@link StreamingResult}
 * @param environment the environment of the measurement
 * @param points the completed points in the order they were measured
 */
public record StepCostResult(
        int schema, Map<String, @Nullable Object> settings, Environment environment, List<StepCost> points)
        implements BenchResult {
    /** Returns the results of points. */
    public static StepCostResult of(
            Map<String, @Nullable Object> settings, Environment environment, List<StepCost> points) {
        return new StepCostResult(ResultKind.STEP_COST.schema(), settings, environment, List.copyOf(points));
    }

    @Override
    public List<Map<String, String>> table() {
        return points.stream().map(ResultJson::flat).toList();
    }
}
