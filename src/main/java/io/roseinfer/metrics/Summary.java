package io.roseinfer.metrics;

import java.util.Arrays;
import java.util.stream.DoubleStream;

/**
 * Summary statistics of one metric, in the metric's unit. An empty sample has {@code count} 0 and zeros elsewhere;
 * callers decide how to print that.
 */
public record Summary(int count, double p50, double p95, double p99, double mean, double max) {
    private static final Summary EMPTY = new Summary(0, 0, 0, 0, 0, 0);

    /** Summarizes nanoseconds in milliseconds. */
    public static Summary ofMillis(DoubleStream nanos) {
        return of(nanos.map(value -> value / 1e6).toArray());
    }

    /** Summarizes nanoseconds in microseconds. */
    public static Summary ofMicros(DoubleStream nanos) {
        return of(nanos.map(value -> value / 1e3).toArray());
    }

    /** Summarizes values in any order; does not modify the array. */
    public static Summary of(double... values) {
        if (values.length == 0) {
            return EMPTY;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Summary(
                sorted.length,
                Percentiles.of(sorted, 50),
                Percentiles.of(sorted, 95),
                Percentiles.of(sorted, 99),
                Arrays.stream(sorted).average().orElse(0),
                sorted[sorted.length - 1]);
    }
}
