package io.roseinfer.bench.report;

import io.roseinfer.metrics.Percentiles;
import java.util.Arrays;
import java.util.Locale;

/**
 * Median and range of a metric across runs. Two medians differ by more than noise only if their ranges do not overlap.
 */
public record AcrossRuns(double median, double min, double max) {
    /** Returns the median and range of at least one value. */
    static AcrossRuns of(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new AcrossRuns(Percentiles.of(sorted, 50), sorted[0], sorted[sorted.length - 1]);
    }

    /** Formats the values, as in {@code 3.80 (3.70 to 4.10) ms}. */
    String text(String unit) {
        return String.format(Locale.ROOT, "%.2f (%.2f to %.2f) %s", median, min, max, unit);
    }
}
