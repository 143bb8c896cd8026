package io.roseinfer.backend.cpu.panama;

import java.lang.foreign.MemorySegment;

/** Tiles of a few rows by {@link RegisterTiles#VECTORS} vectors of outputs, of INT4 weights. */
interface Int4Tiles {

    /**
     * Adds {@code groups} groups of inputs to the sums of one tile, ascending.
     *
     * @param height rows of the tile, one of the heights these tiles are for
     * @param w words; the tile's begin at byte {@code at}
     * @param x the tile's activations, as in {@link io.roseinfer.backend.cpu.kernel.QuantizedRows}, from word {@code from} on
     * @param sums rows of {@code COLUMNS}, the tile's corner at {@code to}
     */
    void add(int height, MemorySegment w, long at, int[] x, int from, int groups, float[] sums, int to);
}
