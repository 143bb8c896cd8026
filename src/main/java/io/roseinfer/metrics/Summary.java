package io.roseinfer.metrics;

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
        return of(Distribution.of(values));
    }

    /** Summarizes the values of a distribution. */
    public static Summary of(Distribution values) {
        return values.size() == 0
                ? EMPTY
                : new Summary(
                        values.size(),
                        values.percentile(50),
                        values.percentile(95),
                        values.percentile(99),
                        values.mean(),
                        values.max());
    }
}
