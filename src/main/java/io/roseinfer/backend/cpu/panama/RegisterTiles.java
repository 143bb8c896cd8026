package io.roseinfer.backend.cpu.panama;

import java.lang.foreign.MemorySegment;

/**
 * A product's innermost loop: tiles of a few rows by three vectors of outputs, whose sums stay in registers while the inputs pass.
 *
 * @param <X> the array that holds activations: floats, or words of {@code QuantizedRows}
 */
interface RegisterTiles<X> {
    /** Vectors of outputs side by side in a tile. */
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
     * Adds {@code steps} inputs, or with quantized inputs groups of them, to the sums of one tile, ascending.
     *
     * @param height rows of the tile, one of the two heights these tiles are for
     * @param w words; the tile's begin at byte {@code at}, those of the next inputs {@code ROW_BYTES} on
     * @param next where the tile's part of the next block begins, if it prefetches ({@link BlockPrefetch})
     * @param x the tile's activations, interleaved, from element {@code from} on
     * @param sums rows of {@code COLUMNS}, the tile's corner at {@code to}
     */
    void add(int height, MemorySegment w, long at, long next, X x, int from, int steps, float[] sums, int to);
}
