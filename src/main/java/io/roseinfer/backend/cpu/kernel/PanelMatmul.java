package io.roseinfer.backend.cpu.kernel;

/**
 * Matmul with weights of one format, one panel of outputs at a time. Every accumulator is the chain {@code s = fma(x[r][k], w[k][c], s)} from
 * zero over ascending k, for any number of rows, tile, vector width and thread. So results are bit-identical in any batch.
 *
 * <p>With quantized inputs the sums within a group are exact integers; over ascending groups the chain is {@code s = fma((float) Σ a[r][k]·n[k][c], scale[g][c] · scale[r][g], s)} from zero.
 */
public interface PanelMatmul {

    /** Returns the tallest {@link RowTiles} tile that this kernel reads, a power of two. */
    int tallestTile();

    /** Returns row counts that together run every loop of this kernel, for warm-up. */
    int[] representativeRows();

    /**
     * Writes {@code rows × COLUMNS} accumulators of one panel, not scaled.
     *
     * @param x {@code rows × weights.inputs()} activations
     * @param sums filled with {@code [rows][COLUMNS]}
     */
    void multiply(MatmulInput x, int rows, PackedMatrix weights, int panel, float[] sums);
}
