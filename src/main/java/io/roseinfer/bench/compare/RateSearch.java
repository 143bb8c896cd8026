package io.roseinfer.bench.compare;

import io.roseinfer.base.Check;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.OptionalDouble;

/**
 * Looks for the highest rate that meets an objective: doubles, or halves, until it knows one that does and one that does not, and then
 * takes the geometric middle of the two until they are close.
 */
public final class RateSearch {
    /** Most doublings or halvings; an objective that is met, or missed, this far from where it began does not depend on the rate. */
    private static final int MAX_DOUBLINGS = 12;

    private final double start;
    private final double resolution;
    private double met;
    private double missed = Double.POSITIVE_INFINITY;
    private int tries;

    /**
     * A search that has tried nothing.
     *
     * @param start where to begin, requests per second
     * @param resolution how far apart the two rates may be in the end, 0.05 for 5 %
     */
    public RateSearch(double start, double resolution) {
        Check.that(start > 0 && resolution > 0, "a search without a beginning or an end");
        this.start = start;
        this.resolution = resolution;
    }

    /** The rate to try next; empty once the search is over. */
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
        return OptionalDouble.of(met > 0 ? 2 * met : missed / 2);
    }

    /** Four digits say more than any run can, and can be read; never one of the two ends. */
    private double rounded(double rate) {
        double shown = new BigDecimal(rate).round(new MathContext(4)).doubleValue();
        return shown > met && shown < missed ? shown : rate;
    }

    /** Takes in what came of a rate. */
    public void tried(double rate, boolean meets) {
        tries++;
        if (meets) {
            met = Math.max(met, rate);
        } else {
            missed = Math.min(missed, rate);
        }
    }

    /** The highest rate that met the objective below all that did not; empty if none did. */
    public OptionalDouble highest() {
        return met > 0 ? OptionalDouble.of(met) : OptionalDouble.empty();
    }
}
