package io.roseinfer.backend.cpu.panama;

import java.lang.foreign.MemorySegment;

/**
 * A matmul's innermost loop: tiles of a few rows by three vectors of outputs, with accumulators in registers.
 *
 * @param <X> type of the activations: floats, or words of {@code QuantizedRows}
 */
interface RegisterTiles<X> {
    /** Vectors of outputs per tile. */
    int VECTORS = 3;

    /** Returns the rows of the tallest tile for vectors of {@code bits} bits. */
    static int tallest(int bits) {
        return bits == 512 ? 8 : 4;
    }

    /** Returns the outputs of a tile for vectors of {@code bits} bits. */
    static int columns(int bits) {
        return VECTORS * (bits / Float.SIZE);
    }

    /**
     * Adds {@code steps} inputs, or groups of quantized inputs, to the accumulators of a tile, ascending.
     *
     * @param height rows of the tile, one of the two supported heights
     * @param w words; the tile's begin at byte {@code at}, the next inputs' {@code ROW_BYTES} later
     * @param next start of the tile's part of the next block, for {@link BlockPrefetch}
     * @param x the tile's activations, interleaved, from element {@code from} on
     * @param sums rows of {@code COLUMNS}, the tile's corner at {@code to}
     */
    void add(int height, MemorySegment w, long at, long next, X x, int from, int steps, float[] sums, int to);
}
