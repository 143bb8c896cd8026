package io.roseinfer.engine;

import io.roseinfer.base.SplitMix64;

/**
 * A named stream of random choices. Each part of a simulation has its own, so that an additional choice in one part
 * does not change the choices of others.
 */
public final class Dice {
    private final long key;
    private long thrown;

    public Dice(long seed, String name) {
        key = SplitMix64.mix(seed + SplitMix64.mix(name.hashCode()));
    }

    /** Returns a number from 0 to {@code bound - 1}. */
    public int below(int bound) {
        return (int) Long.remainderUnsigned(SplitMix64.at(key, thrown++), bound);
    }

    /** A number from {@code min} to {@code max}, both included. */
    public int between(int min, int max) {
        return min + below(max - min + 1);
    }

    public boolean chance(double probability) {
        return SplitMix64.uniform(key, thrown++) < probability;
    }

    public boolean coin() {
        return chance(0.5);
    }

    public int oneOf(int... values) {
        return values[below(values.length)];
    }

    public double oneOf(double... values) {
        return values[below(values.length)];
    }
}
