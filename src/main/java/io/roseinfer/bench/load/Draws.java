package io.roseinfer.bench.load;

import io.roseinfer.base.SplitMix64;

/** A stream of random numbers that depends on its key alone. With {@code StrictMath} it is the same on every machine. */
final class Draws {
    private final long key;
    private long next;

    /**
     * A stream of its own for each purpose.
     *
     * @param seed what the user gave
     * @param purpose tells streams of one seed apart
     */
    Draws(long seed, long purpose) {
        this.key = SplitMix64.mix(SplitMix64.at(seed, purpose));
    }

    /** Uniform in [0, 1). */
    double uniform() {
        return SplitMix64.uniform(key, next++);
    }

    /** Uniform in least, …, most. */
    int between(int least, int most) {
        return least + (int) (uniform() * ((long) most - least + 1));
    }

    /** Exponential of mean 1, by inversion. */
    double exponential() {
        return -StrictMath.log1p(-uniform());
    }

    /** Standard normal (Box and Muller, 1958). */
    private double normal() {
        return Math.sqrt(2 * exponential()) * StrictMath.cos(2 * Math.PI * uniform());
    }

    /** Gamma of a shape and mean {@code shape} (Marsaglia and Tsang, 2000; below shape 1 by their boost). */
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
