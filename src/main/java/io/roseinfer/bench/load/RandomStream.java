package io.roseinfer.bench.load;

import io.roseinfer.base.SplitMix64;

/** A reproducible stream of random numbers, identical on every machine by use of {@code StrictMath}. */
final class RandomStream {
    private final long key;
    private long next;

    /**
     * Creates a stream.
     *
     * @param seed the user's seed
     * @param purpose distinguishes streams with the same seed
     */
    RandomStream(long seed, long purpose) {
        this.key = SplitMix64.mix(SplitMix64.at(seed, purpose));
    }

    /** Returns a uniform number in [0, 1). */
    double uniform() {
        return SplitMix64.uniform(key, next++);
    }

    /** Returns a uniform whole number in [min, max]. */
    int between(int min, int max) {
        return min + (int) (uniform() * ((long) max - min + 1));
    }

    /** Returns an exponential number with mean 1, by inversion. */
    double exponential() {
        return -StrictMath.log1p(-uniform());
    }

    /** Returns a standard normal number (Box and Muller, 1958). */
    double normal() {
        return Math.sqrt(2 * exponential()) * StrictMath.cos(2 * Math.PI * uniform());
    }

    /** Returns a gamma number with shape and mean {@code shape} (Marsaglia and Tsang, 2000; with their boost below shape 1). */
    double gamma(double shape) {
        if (shape < 1) {
            return gamma(shape + 1) * StrictMath.pow(1 - uniform(), 1 / shape);
        }
        double d = shape - 1.0 / 3;
        double c = 1 / Math.sqrt(9 * d);
        while (true) {
            double x = normal();
            double v = StrictMath.pow(1 + c * x, 3);
            if (v > 0 && -exponential() < 0.5 * x * x + d - d * v + d * StrictMath.log(v)) {
                return d * v;
            }
        }
    }
}
