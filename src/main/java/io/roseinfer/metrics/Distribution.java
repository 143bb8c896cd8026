package io.roseinfer.metrics;

import io.roseinfer.base.Check;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.function.DoubleUnaryOperator;

/** The values of a sample in ascending order. Immutable. */
public final class Distribution {
    private final double[] values;
    /** For each value, the number of occurrences up to it; empty if each occurs once. */
    private final int[] ends;

    private Distribution(double[] values, int[] ends) {
        this.values = values;
        this.ends = ends;
    }

    /** Returns the distribution of values in any order; does not modify the array. */
    public static Distribution of(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Distribution(sorted, new int[0]);
    }

    /**
     * Returns the distribution of counted values.
     *
     * @param counts counts of the {@link Double#doubleToLongBits} of the values
     */
    public static Distribution ofBits(ValueCounts counts) {
        double[] values = Arrays.stream(counts.ascending())
                .mapToDouble(Double::longBitsToDouble)
                .sorted()
                .toArray();
        int[] ends = new int[values.length];
        int end = 0;
        for (int i = 0; i < values.length; i++) {
            end += counts.count(Double.doubleToLongBits(values[i]));
            ends[i] = end;
        }
        return new Distribution(values, ends);
    }

    /** Returns the number of values. */
    public int size() {
        return ends.length == 0 ? values.length : ends[ends.length - 1];
    }

    /** Returns the value of a rank, from 0 for the minimum. */
    double at(int rank) {
        if (ends.length == 0) {
            return values[rank];
        }
        int found = Arrays.binarySearch(ends, rank + 1);
        return values[found < 0 ? -found - 1 : found];
    }

    /** Returns a percentile as {@link Percentiles} do; the sample must not be empty. */
    public double percentile(double percent) {
        return Percentiles.of(size(), this::at, percent);
    }

    /** Returns the mean; 0 of an empty sample. */
    public double mean() {
        return mean(DoubleUnaryOperator.identity());
    }

    /** Returns the population's standard deviation; 0 of an empty sample. */
    public double deviation() {
        double mean = mean();
        return Math.sqrt(mean(value -> (value - mean) * (value - mean)));
    }

    private double mean(DoubleUnaryOperator of) {
        DoubleSummaryStatistics sum = new DoubleSummaryStatistics();
        int added = 0;
        for (int i = 0; i < values.length; i++) {
            double value = of.applyAsDouble(values[i]);
            for (int end = ends.length == 0 ? i + 1 : ends[i]; added < end; added++) {
                sum.accept(value);
            }
        }
        return sum.getAverage();
    }

    /** Returns the maximum; the sample must not be empty. */
    public double max() {
        Check.that(values.length > 0, "maximum of an empty sample");
        return values[values.length - 1];
    }
}
