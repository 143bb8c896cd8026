package io.roseinfer.backend.cpu.panama;

import java.lang.foreign.MemorySegment;

/** Tiles of a few rows by three vectors of outputs whose sums stay in registers while the inputs pass. */
interface RegisterTiles {
    /** Vectors of outputs side by side in a tile. */
    int VECTORS = 3;

    /**
     * Adds {@code steps} inputs to the sums of one tile: {@code s = fma(x, w, s)}, ascending.
     *
     * @param height rows of the tile, one of the heights these tiles are for
     * @param w words; the tile's begin at byte {@code at}, those of the next inputs {@code ROW_BYTES} on
     * @param next where the tile's part of the next block begins, if it reads ahead ({@link NextBlock})
     * @param x the tile's activations, interleaved, from element {@code from} on
     * @param sums rows of {@code COLUMNS}, the tile's corner at {@code to}
     */
    void add(int height, MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to);
}
