package io.roseinfer.backend.cpu.panama;

import java.lang.foreign.MemorySegment;

/**
 * A product's innermost loop: tiles of a few rows by three vectors of outputs, whose sums stay in registers while the inputs pass.
 *
 * @param <X> the array that holds activations: floats, or for INT4 weights the words of {@code QuantizedRows}
 */
interface RegisterTiles<X> {
    /** Vectors of outputs side by side in a tile. */
    int VECTORS = 3;

    /**
     * Adds {@code steps} inputs, or with INT4 weights groups of inputs, to the sums of one tile, ascending.
     *
     * @param height rows of the tile, one of the two heights these tiles are for
     * @param w words; the tile's begin at byte {@code at}, those of the next inputs {@code ROW_BYTES} on
     * @param next where the tile's part of the next block begins, if it prefetches ({@link BlockPrefetch})
     * @param x the tile's activations, interleaved, from element {@code from} on
     * @param sums rows of {@code COLUMNS}, the tile's corner at {@code to}
     */
    void add(int height, MemorySegment w, long at, long next, X x, int from, int steps, float[] sums, int to);
}
