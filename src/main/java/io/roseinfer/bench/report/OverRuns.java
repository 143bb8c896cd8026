package io.roseinfer.bench.report;

import io.roseinfer.metrics.Percentiles;
import java.util.Arrays;
import java.util.Locale;

/**
 * A number that every run yields one of, over all runs: the median and the range. Medians of two machines or settings differ by more
 * than noise only where the ranges do not overlap.
 */
public record OverRuns(double median, double min, double max) {
    /** Of at least one run. */
    static OverRuns of(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new OverRuns(Percentiles.of(sorted, 50), sorted[0], sorted[sorted.length - 1]);
    }

    /** Such as {@code 3.80 (3.70 to 4.10) ms}. */
    String text(String unit) {
        return String.format(Locale.ROOT, "%.2f (%.2f to %.2f) %s", median, min, max, unit);
    }
}
