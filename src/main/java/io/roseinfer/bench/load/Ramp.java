package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;

/**
 * A rate that changes from the first request to the last, over time and not over the request's number: of n requests the expected number
 * that have come by t is the integral of the rate up to t.
 *
 * <pre>
 * linear        rate(t) = a + (b − a) t / T            T = 2 n / (a + b)
 * exponential   rate(t) = a (b / a)^(t / T)            T = n ln(b / a) / (b − a)
 * </pre>
 *
 * @param start requests per second at the beginning
 * @param end at the end
 * @param isExponential whether the rate grows by a factor a second and not by a difference
 */
public record Ramp(double start, double end, boolean isExponential) {
    public Ramp {
        if (!(start > 0 && end > 0) || Double.isInfinite(start + end)) {
            throw new BadInput("--ramp-up-start-rps is " + start + " and --ramp-up-end-rps is " + end
                    + "; both must be positive and finite");
        }
    }

    /**
     * When as many requests are expected to have come as {@code arrived}; behind the last one the rate stays what it is there.
     *
     * @param arrived requests, which need not be whole
     * @param requests of the whole ramp
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
