package io.roseinfer.backend.cpu.kernel;

/**
 * The matrix product, one panel of outputs at a time. Every sum is the chain {@code s = fma(x[r][k], w[k][c], s)} from zero over
 * ascending k, whatever the number of rows, the tile, the vector width or the thread: that makes results independent of the
 * batch to the bit.
 *
 * <p>With INT4 weights the sums of a group of inputs are integers, exact in any order; over groups, ascending, the chain is
 * {@code s = fma((float) Σ a[r][k]·n[k][c], scale[g][c] · scale[r][g], s)} from zero.
 */
public interface PanelProduct {

    /** The tallest tile of {@link RowTiles} this kernel reads, a power of two. */
    int tallestTile();

    /** Numbers of rows whose products, taken together, run every loop of this kernel; for getting it compiled. */
    int[] representativeRows();

    /**
     * Writes {@code rows × COLUMNS} sums of one panel of any format but INT4, not scaled.
     *
     * @param x activations in {@link RowTiles} layout, {@code rows × weights.inputs()}
     * @param sums filled with {@code [rows][COLUMNS]}
     */
    void multiply(float[] x, int rows, PackedMatrix weights, int panel, float[] sums);

    /**
     * Writes {@code rows × COLUMNS} sums of one panel of INT4 weights.
     *
     * @param x activations as in {@link QuantizedRows}, {@code rows × weights.inputs()}
     * @param sums filled with {@code [rows][COLUMNS]}
     */
    void multiply(int[] x, int rows, PackedMatrix weights, int panel, float[] sums);
}
