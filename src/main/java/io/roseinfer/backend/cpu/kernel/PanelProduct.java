package io.roseinfer.backend.cpu.kernel;

/**
 * The matrix product, one panel of outputs at a time. Every sum is the chain {@code s = fma(x[r][k], w[k][c], s)} from zero over
 * ascending k, whatever the number of rows, the tile, the vector width or the thread: that makes results independent of the
 * batch to the bit.
 */
public interface PanelProduct {

    /** The tallest tile of {@link RowTiles} this kernel reads, a power of two. */
    int tallestTile();

    /**
     * Writes {@code rows × COLUMNS} sums of one panel, not scaled.
     *
     * @param x activations in {@link RowTiles} layout, {@code rows × weights.inputs()}
     * @param sums filled with {@code [rows][COLUMNS]}
     */
    void multiply(float[] x, int rows, PackedMatrix weights, int panel, float[] sums);
}
