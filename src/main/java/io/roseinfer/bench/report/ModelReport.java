package io.roseinfer.bench.report;

import io.roseinfer.bench.ModelBenchmark;
import io.roseinfer.bench.ModelTiming;
import java.util.Locale;

/**
 * Formats the results of {@code roseinfer bench model} as a table.
 *
 * <p>A row is a step shape; a prefill run is one step, a decode run {@code --decode-steps} steps.
 *
 * <pre>
 * ms                   time per step, median over the runs
 * min ms, max ms       time per step of the fastest and the slowest run
 * tokens/s             tokens per step of all rows, divided by the median time
 * </pre>
 */
public final class ModelReport {
    private static final double NANOS_PER_SECOND = 1e9;

    private ModelReport() {}

    /** Returns the lines above the table. Every line ends with a newline. */
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

    static AcrossRuns overRuns(ModelTiming timing) {
        return AcrossRuns.of(
                timing.runMillis().stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** Returns a row of the table. */
    public static String row(ModelTiming timing) {
        AcrossRuns millis = overRuns(timing);
        return String.format(
                Locale.ROOT,
                "%-16s %10.3f %10.3f %10.3f %12.1f\n",
                timing.point(),
                millis.median(),
                millis.min(),
                millis.max(),
                timing.tokensPerSecond());
    }
}
