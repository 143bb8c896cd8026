package io.roseinfer.bench.report;

import io.roseinfer.bench.ModelPoint;
import io.roseinfer.bench.ModelTiming;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@code bench model}.
 *
 * @param schema 1; raised by changes that break readers
 * @param settings as in {@link StreamingResult}
 * @param environment the environment of the measurement
 * @param points the completed points in the order they were measured
 */
public record ModelResult(
        int schema, Map<String, @Nullable Object> settings, Environment environment, List<Point> points)
        implements BenchResult {
    /** Returns the results of step shapes. */
    public static ModelResult of(
            Map<String, @Nullable Object> settings, Environment environment, List<ModelTiming> timings) {
        return new ModelResult(
                ResultKind.MODEL.schema(),
                settings,
                environment,
                timings.stream().map(Point::of).toList());
    }

    /**
     * A step shape.
     *
     * @param kind prefill or decode
     * @param rows rows of the step
     * @param tokens tokens per row; 1 for decode
     * @param runMillis time per step of each run
     * @param stepMillis summary of the runs
     * @param throughputTokS rows * tokens divided by the median
     */
    public record Point(
            String kind, int rows, long tokens, List<Double> runMillis, AcrossRuns stepMillis, double throughputTokS) {
        private static Point of(ModelTiming timing) {
            ModelPoint point = timing.point();
            return new Point(
                    point instanceof ModelPoint.Prefill ? "prefill" : "decode",
                    point.rows(),
                    point.tokensPerStep() / point.rows(),
                    timing.runMillis(),
                    ModelReport.overRuns(timing),
                    timing.tokensPerSecond());
        }
    }

    @Override
    public List<Map<String, String>> table() {
        return points.stream().map(ResultJson::flat).toList();
    }
}
