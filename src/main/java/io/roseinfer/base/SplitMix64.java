package io.roseinfer.base;

/**
 * SplitMix64 (Steele, Lea and Flood, 2014) as a pure function: the i-th output of a stream is computed without the ones
 * before it. Random weights and draws are functions of a key and a counter, so they can be computed in any order.
 */
public final class SplitMix64 {
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private SplitMix64() {}

    /**
     * Returns the finalizer of {@code z}: a bijection of 64-bit values in which every input bit changes about half of
     * the output.
     */
    public static long mix(long z) {
        long y = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        y = (y ^ (y >>> 27)) * 0x94D049BB133111EBL;
        return y ^ (y >>> 31);
    }

    /** Returns output number {@code index}, counted from zero, of the stream with this key. */
    public static long at(long key, long index) {
        return mix(key + (index + 1) * GOLDEN_GAMMA);
    }

    /** Returns a uniform double in [0, 1) with 53 random bits: number {@code index} of the stream with this key. */
    public static double uniform(long key, long index) {
        return (at(key, index) >>> 11) * 0x1p-53;
    }
}
