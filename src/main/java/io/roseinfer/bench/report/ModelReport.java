package io.roseinfer.bench.report;

import io.roseinfer.bench.ModelBenchmark;
import io.roseinfer.bench.ModelPoint;
import io.roseinfer.bench.ModelTiming;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The results of {@code roseinfer bench model}, as a table and as JSON.
 *
 * <p>A line of the table is a kind of step; a run of a prefill is one step, a run of a decode {@code --decode-steps} steps.
 *
 * <pre>
 * ms                   time of a step, the median over the runs
 * min ms, max ms       the fastest and the slowest run's
 * tokens/s             tokens that a step computes by its median time, all rows together
 * </pre>
 *
 * <p>The JSON has {@code schema}, {@code settings} and {@code environment} as {@link JsonReport} has them, and
 *
 * <pre>
 * points[]             in the order they were measured; those that were over when the file was written
 *   kind               prefill or decode
 *   rows               rows of the step
 *   tokens             tokens of every row; of a decode 1
 *   run_ms[]           each run's time by its steps, in milliseconds
 *   step_ms            {median, min, max} of them
 *   throughput_tok_s   rows * tokens by the median
 * </pre>
 */
public final class ModelReport {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int SCHEMA = 1;

    private ModelReport() {}

    /** The lines above the table, each ended by a newline. */
    public static String header(String model, String dtype, String device, ModelBenchmark.Settings settings) {
        return String.format(
                Locale.ROOT,
                """
                === model benchmark ===
                Model: %s, dtype %s
                Device: %s
                Decode: %d steps after %d tokens
                Runs: %d, after at least %d and %.1f s to warm up; medians
                %-16s %10s %10s %10s %12s
                """,
                model,
                dtype,
                device,
                settings.decodeSteps(),
                settings.context(),
                settings.repeats(),
                settings.warmUp().runs(),
                settings.warmUp().nanos() / NANOS_PER_SECOND,
                "step",
                "ms",
                "min ms",
                "max ms",
                "tokens/s");
    }

    private static OverRuns overRuns(ModelTiming timing) {
        return OverRuns.of(
                timing.runMillis().stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** One line. */
    public static String row(ModelTiming timing) {
        OverRuns millis = overRuns(timing);
        return String.format(
                Locale.ROOT,
                "%-16s %10.3f %10.3f %10.3f %12.1f\n",
                timing.point(),
                millis.median(),
                millis.least(),
                millis.most(),
                timing.tokensPerSecond());
    }

    /** The document. */
    public static ObjectNode json(Map<String, ?> settings, Environment environment, List<ModelTiming> timings) {
        ObjectNode root = JsonParts.document(SCHEMA, settings, environment);
        ArrayNode points = root.putArray("points");
        timings.forEach(timing -> points.add(point(timing)));
        return root;
    }

    private static ObjectNode point(ModelTiming timing) {
        ModelPoint point = timing.point();
        ObjectNode node = JsonParts.object()
                .put("kind", point instanceof ModelPoint.Prefill ? "prefill" : "decode")
                .put("rows", point.rows())
                .put("tokens", point.tokensPerStep() / point.rows());
        ArrayNode runs = node.putArray("run_ms");
        timing.runMillis().forEach(runs::add);
        node.set("step_ms", JsonParts.overRuns(overRuns(timing)));
        return node.put("throughput_tok_s", timing.tokensPerSecond());
    }
}
