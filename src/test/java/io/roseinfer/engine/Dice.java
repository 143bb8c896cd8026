package io.roseinfer.engine;

import io.roseinfer.base.SplitMix64;

/**
 * A stream of choices named by what it decides. Every part of a simulation has its own, so that one more choice in one place
 * does not change what the others choose.
 */
final class Dice {
    private final long key;
    private long thrown;

    Dice(long seed, String name) {
        key = SplitMix64.mix(seed + SplitMix64.mix(name.hashCode()));
    }

    /** A number from 0 to {@code bound - 1}. */
    int below(int bound) {
        return (int) Long.remainderUnsigned(SplitMix64.at(key, thrown++), bound);
    }

    /** A number from {@code least} to {@code most}, both included. */
    int between(int least, int most) {
        return least + below(most - least + 1);
    }

    boolean chance(double probability) {
        return SplitMix64.uniform(key, thrown++) < probability;
    }

    boolean coin() {
        return chance(0.5);
    }

    int oneOf(int... values) {
        return values[below(values.length)];
    }

    double oneOf(double... values) {
        return values[below(values.length)];
    }
}
