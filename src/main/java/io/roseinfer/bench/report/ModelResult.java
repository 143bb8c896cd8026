package io.roseinfer.bench.report;

import io.roseinfer.bench.ModelPoint;
import io.roseinfer.bench.ModelTiming;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@code bench model}.
 *
 * @param schema 1; a change that breaks readers raises it
 * @param settings as {@link StreamingResult} has them
 * @param environment what it was measured on
 * @param points in the order they were measured; those that were over when the file was written
 */
public record ModelResult(
        int schema, Map<String, @Nullable Object> settings, Environment environment, List<Point> points)
        implements BenchResult {
    /** Results of kinds of steps. */
    public static ModelResult of(
            Map<String, @Nullable Object> settings, Environment environment, List<ModelTiming> timings) {
        return new ModelResult(
                ResultKind.MODEL.schema(),
                settings,
                environment,
                timings.stream().map(Point::of).toList());
    }

    /**
     * A kind of step.
     *
     * @param kind prefill or decode
     * @param rows rows of the step
     * @param tokens tokens of every row; of a decode 1
     * @param runMillis each run's time by its steps
     * @param stepMillis the runs summarized
     * @param throughputTokS rows * tokens by the median
     */
    public record Point(
            String kind, int rows, long tokens, List<Double> runMillis, OverRuns stepMillis, double throughputTokS) {
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
