package io.roseinfer.bench.compare;

import io.roseinfer.base.Check;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.OptionalDouble;

/**
 * Search for the highest rate that meets an objective: doubling or halving until one rate passes and one fails, then bisection by the
 * geometric mean until they are close.
 */
public final class RateSearch {
    /** Maximum doublings or halvings; beyond that, the objective does not depend on the rate. */
    private static final int MAX_DOUBLINGS = 12;

    private final double start;
    private final double resolution;
    private double met;
    private double missed = Double.POSITIVE_INFINITY;
    private int tries;

    /**
     * Creates a search.
     *
     * @param start the first rate in requests per second
     * @param resolution relative distance of the two rates at which to stop, 0.05 for 5 %
     */
    public RateSearch(double start, double resolution) {
        Check.that(start > 0 && resolution > 0, "a search without a beginning or an end");
        this.start = start;
        this.resolution = resolution;
    }

    /** Returns the next rate to try; empty if the search is complete. */
    public OptionalDouble next() {
        boolean bracketed = met > 0 && Double.isFinite(missed);
        if (bracketed) {
            return missed <= met * (1 + resolution)
                    ? OptionalDouble.empty()
                    : OptionalDouble.of(rounded(Math.sqrt(met * missed)));
        }
        if (tries > MAX_DOUBLINGS) {
            return OptionalDouble.empty();
        }
        if (tries == 0) {
            return OptionalDouble.of(start);
        }
        return OptionalDouble.of(rounded(met > 0 ? 2 * met : missed / 2));
    }

    /** Rounds a rate to four digits for readability, unless that would reach one of the ends. */
    private double rounded(double rate) {
        double shown = new BigDecimal(rate).round(new MathContext(4)).doubleValue();
        return shown > met && shown < missed ? shown : rate;
    }

    /** Adds the result of a rate. */
    public void tried(double rate, boolean meets) {
        tries++;
        if (meets) {
            met = Math.max(met, rate);
        } else {
            missed = Math.min(missed, rate);
        }
    }

    /** Returns the highest rate that met the objective; empty if none did. */
    public OptionalDouble highest() {
        return met > 0 ? OptionalDouble.of(met) : OptionalDouble.empty();
    }
}
