package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;

/**
 * A request rate that changes over time: the expected number of requests until t is the integral of the rate up to t, for n requests in
 * total.
 *
 * <pre>
 * linear        rate(t) = a + (b − a) t / T            T = 2 n / (a + b)
 * exponential   rate(t) = a (b / a)^(t / T)            T = n ln(b / a) / (b − a)
 * </pre>
 *
 * @param start requests per second at the start
 * @param end requests per second at the end
 * @param isExponential whether the rate changes exponentially instead of linearly
 */
public record Ramp(double start, double end, boolean isExponential) {
    public Ramp {
        if (!(start > 0 && end > 0) || Double.isInfinite(start + end)) {
            throw new BadInput("--ramp-up-start-rps is " + start + " and --ramp-up-end-rps is " + end
                    + "; both must be positive and finite");
        }
    }

    /** Returns the number of requests of a ramp that takes a time. */
    public double requests(double seconds) {
        double mean = isExponential && start != end ? (end - start) / StrictMath.log(end / start) : (start + end) / 2;
        return mean * seconds;
    }

    /**
     * Returns the time at which {@code arrived} requests are expected; after the ramp the rate stays constant.
     *
     * @param arrived number of requests, possibly fractional
     * @param requests number of requests of the whole ramp
     */
    double seconds(double arrived, double requests) {
        if (start == end) {
            return arrived / start;
        }
        double within = Math.min(arrived, requests);
        double ratio = StrictMath.log(end / start);
        double whole = isExponential ? requests * ratio / (end - start) : 2 * requests / (start + end);
        double slope = (end - start) / whole;
        double seconds = isExponential
                ? whole / ratio * StrictMath.log1p(within * ratio / (start * whole))
                : (Math.sqrt(start * start + 2 * slope * within) - start) / slope;
        return seconds + (arrived - within) / end;
    }
}
