package io.roseinfer.bench.report;

import io.roseinfer.bench.ModelBenchmark;
import io.roseinfer.bench.ModelTiming;
import java.util.Locale;

/** The text of {@code roseinfer bench model}: a table, medians over the runs of a point. */
public final class ModelReport {
    private static final double NANOS_PER_SECOND = 1e9;

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
                %-16s %10s %10s %12s
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
                "max ms",
                "tokens/s");
    }

    /** One line. */
    public static String row(ModelTiming timing) {
        return String.format(
                Locale.ROOT,
                "%-16s %10.3f %10.3f %12.1f\n",
                timing.point(),
                timing.stepMillis().p50(),
                timing.stepMillis().max(),
                timing.tokensPerSecond());
    }
}
