package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;
import java.util.Optional;

/**
 * When requests arrive: independent gaps of a gamma distribution, whose mean is {@code 1 / rate} and whose shape is the burstiness.
 *
 * <p>Times are absolute and not scaled to the rate: over n requests the rate of a Poisson process is off by about 1/√n, and a
 * result says what it came to.
 *
 * @param ratePerSecond mean rate; infinite has all requests arrive at once
 * @param burstiness 1 is a Poisson process, less has more bursts and more is more even; infinite is one request every 1/rate
 * @param seed the same seed gives the same times
 * @param ramp a rate that changes, in place of the mean rate
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

    /** Arrivals at a constant mean rate. */
    public Arrivals(double ratePerSecond, double burstiness, long seed) {
        this(ratePerSecond, burstiness, seed, Optional.empty());
    }

    /** Whether all arrive at once. */
    public boolean isBurst() {
        return Double.isInfinite(ratePerSecond) && ramp.isEmpty();
    }

    /** Nanoseconds after the start at which each of some requests arrives; the first one's are 0. */
    public long[] dueNanos(int requests) {
        long[] due = new long[requests];
        if (isBurst()) {
            return due;
        }
        Draws draws = new Draws(seed, PURPOSE);
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

    /** A gap of mean 1. */
    private double gap(Draws draws) {
        return burstiness == 1 ? draws.exponential() : draws.gamma(burstiness) / burstiness;
    }
}
