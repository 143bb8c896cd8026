package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;

import io.roseinfer.backend.cpu.kernel.Int4Weights;
import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelMatmul;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Matmul with {@link Int4Weights}, by register tiles as in {@link FloatMatmul}. All inputs take one pass for any number of rows, since a
 * panel has an eighth of the size of one of floats.
 */
final class Int4Matmul implements PanelMatmul {
    /** Bytes of the arrays. */
    static final long BYTES = (long) Integer.BYTES * GemmInt4Tiles.PAIRS;

    private final int tallest;
    private final int tileColumns;
    /** Tiles of more than two rows. */
    private final RegisterTiles<int[]> gemm;

    /** Tiles of one row or two. */
    private final RegisterTiles<int[]> gemv;

    /** Creates kernels for vectors of {@code bits} bits. */
    Int4Matmul(int bits, Int4Weights format) {
        tallest = RegisterTiles.tallest(bits);
        tileColumns = RegisterTiles.columns(bits);
        TileSpec spec = new TileSpec(bits, format, 0);
        gemm = Specialization.of(GemmInt4Tiles.class, spec);
        gemv = Specialization.of(GemvInt4Tiles.class, spec);
    }

    @Override
    public int tallestTile() {
        return tallest;
    }

    @Override
    public int[] representativeRows() {
        return IntStream.iterate(tallest, height -> height > 0, height -> height / 2)
                .toArray();
    }

    @Override
    public void multiply(MatmulInput x, int rows, PackedMatrix weights, int panel, float[] sums) {
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        int groups = QuantizedRows.groups(weights.inputs());
        int words = QuantizedRows.words(weights.inputs());
        long at = weights.panelStart(panel);
        for (int c = 0; c < COLUMNS; c += tileColumns) {
            int height;
            for (int row = 0; row < rows; row += height) {
                height = RowTiles.height(row, rows, tallest);
                RegisterTiles<int[]> tiles = height > 2 ? gemm : gemv;
                int to = row * COLUMNS + c;
                tiles.add(height, weights.memory(), at + 4L * c, at, x.words(), row * words, groups, sums, to);
            }
        }
    }
}
