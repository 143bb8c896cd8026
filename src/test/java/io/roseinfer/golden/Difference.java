package io.roseinfer.golden;

import java.util.Locale;

/** The difference of two lists of numbers. */
public record Difference(double max, double mean) {

    /** Returns the difference of two lists of one length; NaN anywhere is infinitely far. */
    public static Difference of(float[] seen, float[] expected) {
        if (seen.length != expected.length) {
            throw new IllegalArgumentException(seen.length + " numbers against " + expected.length);
        }
        double max = 0;
        double sum = 0;
        for (int i = 0; i < seen.length; i++) {
            double apart = Math.abs((double) seen[i] - expected[i]);
            apart = Double.isNaN(apart) ? Double.POSITIVE_INFINITY : apart;
            max = Math.max(max, apart);
            sum += apart;
        }
        return new Difference(max, sum / Math.max(1, seen.length));
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "max %.2e mean %.2e", max, mean);
    }
}
