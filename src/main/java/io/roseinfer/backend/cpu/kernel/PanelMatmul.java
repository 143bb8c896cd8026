package io.roseinfer.backend.cpu.kernel;

/**
 * The matrix product with weights of one format, one panel of outputs at a time. Every sum is the chain
 * {@code s = fma(x[r][k], w[k][c], s)} from zero over ascending k, whatever the number of rows, the tile, the vector width or the thread:
 * that makes results independent of the batch to the bit.
 *
 * <p>With a format that quantizes its inputs the sums of a group of inputs are integers, exact in any order; over groups, ascending, the
 * chain is {@code s = fma((float) Σ a[r][k]·n[k][c], scale[g][c] · scale[r][g], s)} from zero.
 */
public interface PanelMatmul {

    /** The tallest tile of {@link RowTiles} this kernel reads, a power of two. */
    int tallestTile();

    /** Numbers of rows whose products, taken together, run every loop of this kernel; for getting it compiled. */
    int[] representativeRows();

    /**
     * Writes {@code rows × COLUMNS} sums of one panel, not scaled.
     *
     * @param x {@code rows × weights.inputs()} activations
     * @param sums filled with {@code [rows][COLUMNS]}
     */
    void multiply(MatmulInput x, int rows, PackedMatrix weights, int panel, float[] sums);
}
