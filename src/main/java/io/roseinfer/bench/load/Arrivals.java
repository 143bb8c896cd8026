package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;
import java.util.Optional;

/**
 * An arrival process: independent intervals from a gamma distribution with mean {@code 1 / rate} and the burstiness as shape.
 *
 * <p>Times are not rescaled to the exact rate: over n requests the rate of a Poisson process is off by about 1/√n, and results contain
 * the actual rate.
 *
 * @param ratePerSecond mean rate; if infinite, all requests arrive at once
 * @param burstiness 1 is a Poisson process, lower is burstier, higher is more even; infinite is one request every 1/rate
 * @param seed the same seed gives the same times
 * @param ramp a changing rate, used instead of the mean rate
 */
public record Arrivals(double ratePerSecond, double burstiness, long seed, Optional<Ramp> ramp) {
    private static final double NANOS_PER_SECOND = 1e9;

    private static final long PURPOSE = 1;

    public Arrivals {
        if (!(ratePerSecond > 0)) {
            throw new BadInput("--request-rate is " + ratePerSecond + "; it must be positive, or inf");
        }
        if (!(burstiness > 0)) {
            throw new BadInput("--burstiness is " + burstiness + "; it must be positive: 1 is Poisson, inf constant");
        }
    }

    /** Creates arrivals with a constant mean rate. */
    public Arrivals(double ratePerSecond, double burstiness, long seed) {
        this(ratePerSecond, burstiness, seed, Optional.empty());
    }

    /** Returns whether all requests arrive at once. */
    public boolean isBurst() {
        return Double.isInfinite(ratePerSecond) && ramp.isEmpty();
    }

    /** Returns the arrival time of each request in nanoseconds after the start; the first is 0. */
    public long[] dueNanos(int requests) {
        long[] due = new long[requests];
        if (isBurst()) {
            return due;
        }
        RandomStream draws = new RandomStream(seed, PURPOSE);
        double arrived = 0;
        double seconds = 0;
        for (int i = 1; i < requests; i++) {
            double gap = Double.isInfinite(burstiness) ? 1 : gap(draws);
            arrived += gap;
            if (ramp.isPresent()) {
                seconds = ramp.get().seconds(arrived, requests - 1);
            } else {
                seconds = Double.isInfinite(burstiness) ? i / ratePerSecond : seconds + gap / ratePerSecond;
            }
            due[i] = Math.round(seconds * NANOS_PER_SECOND);
        }
        return due;
    }

    /** Returns a random interval with mean 1. */
    private double gap(RandomStream draws) {
        return burstiness == 1 ? draws.exponential() : draws.gamma(burstiness) / burstiness;
    }
}
