package io.roseinfer.backend.cuda;

import java.util.Arrays;
import java.util.List;

/**
 * A tile of the prompt GEMM: a line of {@code kernels/contract/prompt_tiles.csv}, which defines its columns. It has
 * {@value #ROWS} rows of activations.
 *
 * @param name suffix of the kernels' names
 * @param columns outputs per tile
 * @param split blocks of a cluster that share a tile and split k: 1 or 2
 * @param pair blocks of a cluster with neighboring row tiles, which fetch weights for each other: 1 or 2
 * @param stages of the ring of weight and activation panels
 * @param exchangeBytes shared memory for a peer's accumulators
 * @param stepNanos estimated time of a block per panel of k
 * @param endNanos estimated time that a tile's end adds
 */
record PromptTile(
        String name, int columns, int split, int pair, int stages, int exchangeBytes, int stepNanos, int endNanos) {
    static final int ROWS = 128;
    static final int THREADS = 384;

    private static final String FILE = "prompt_tiles.csv";
    private static final int PANEL_BYTES = 128;
    private static final int ALIGNMENT = 1024;

    /** Returns the tiles of this build. */
    static List<PromptTile> load() {
        return Contract.lines(FILE).stream()
                .skip(1)
                .map(line -> line.split(",", -1))
                .map(PromptTile::of)
                .toList();
    }

    private static PromptTile of(String[] cells) {
        int[] numbers = Arrays.stream(cells).skip(1).mapToInt(Integer::parseInt).toArray();
        return new PromptTile(
                cells[0], numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]);
    }

    /**
     * Returns the tile with the least estimate for a matrix.
     *
     * @param rows tokens; only the number of tiles matters, so all prompts of a graph's bucket have one tile
     * @param outputs padded to a multiple of 128
     * @param panels along k
     */
    static PromptTile choose(List<PromptTile> tiles, int rows, int outputs, int panels, int multiprocessors) {
        PromptTile best = tiles.getFirst();
        long least = Long.MAX_VALUE;
        for (PromptTile tile : tiles) {
            long nanos = tile.nanos(rows, outputs, panels, multiprocessors);
            if (nanos < least) {
                best = tile;
                least = nanos;
            }
        }
        return best;
    }

    /** Returns whether a tile has whole heads of 64 or 128, as QK norm in the GEMM needs. */
    boolean wholeHeads() {
        return cluster() == 1 && columns % 128 == 0;
    }

    private long nanos(int rows, int outputs, int panels, int multiprocessors) {
        long waves = Math.ceilDiv(tiles(rows, outputs), Math.max(multiprocessors / cluster(), 1) * pair);
        return waves * ((long) Math.ceilDiv(panels, split) * stepNanos + endNanos);
    }

    private int tiles(int rows, int outputs) {
        return Math.multiplyExact(Math.ceilDiv(rows, ROWS * pair) * pair, Math.ceilDiv(outputs, columns));
    }

    /** Returns the blocks of a cluster. */
    int cluster() {
        return split * pair;
    }

    /** Returns the grid: blocks loop over tiles, but a cluster that splits k has one tile. */
    int blocks(int rows, int outputs, int multiprocessors) {
        int tiles = tiles(rows, outputs);
        return split > 1 ? tiles * split : Math.min(tiles, Math.max(multiprocessors / pair, 1) * pair);
    }

    /** Returns the dynamic shared memory of a block. */
    int sharedBytes() {
        return stages * (ROWS + columns) * PANEL_BYTES + exchangeBytes + ALIGNMENT;
    }
}
