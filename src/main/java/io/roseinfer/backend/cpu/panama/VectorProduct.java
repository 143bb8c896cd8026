package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelProduct;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Register tiles of eight rows (four for vectors below 512 bits, whose processors may have 16 registers) by three vectors. One
 * tile of rows takes all inputs in one pass; under more, the inputs come in blocks whose weights stay in the second-level cache
 * while every tile passes over them, and the sums wait in memory meanwhile, which does not change their order.
 *
 * <p>Zen 4, 2 threads, GFLOP/s by inputs per block (peak 224; 256 rows; fp32, 768×2304 and 3072×768): 64: 179, 182; 128: 207,
 * 201; 256: 208, 218; 384: 214, 215; 768: 219, 218; 3072: 214, 218. Small blocks fit the first-level cache, but start too often.
 * One pass against blocks of 768 by rows (fp32, 3072×768): 8: 208, 180; 16: 197, 186; 32: 181, 174; 128: 181, 205 (jmh/README.md).
 *
 * <p>Narrow weights are widened in registers, in every tile again. To widen a block once, into memory that all tiles then read,
 * was slower at 16 and 32 rows (INT8, 14.7 against 21.7 ms and 36 against 45).
 */
final class VectorProduct implements PanelProduct {
    /** Inputs per block; a multiple of every format's weights per word. */
    private static final int BLOCK = 768;

    private final int tallest;
    private final int tileColumns;
    private final RegisterTiles[] tall = new RegisterTiles[WeightFormat.values().length];
    private final RegisterTiles[] low = new RegisterTiles[WeightFormat.values().length];

    /** For vectors of {@code bits} bits. */
    VectorProduct(int bits) {
        int lanes = bits / Float.SIZE;
        tallest = lanes == 16 ? 8 : 4;
        tileColumns = RegisterTiles.VECTORS * lanes;
        for (WeightFormat format : WeightFormat.values()) {
            tall[format.ordinal()] = Specialization.of(RegisterTiles.class, TallTiles.class, bits, format, 0);
            low[format.ordinal()] = format == WeightFormat.INT8
                    ? Specialization.of(RegisterTiles.class, LowByteTiles.class, bits, format, 0)
                    : Specialization.of(RegisterTiles.class, LowTiles.class, bits, format, 0);
        }
    }

    @Override
    public int tallestTile() {
        return tallest;
    }

    @Override
    public void multiply(float[] x, int rows, PackedMatrix weights, int panel, float[] sums) {
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        int inputs = weights.inputs();
        int perWord = weights.format().perWord();
        int block = rows <= tallest ? inputs : BLOCK;
        for (int k = 0; k < inputs; k += block) {
            long at = weights.panelStart(panel) + (k / perWord) * (long) ROW_BYTES;
            block(weights, at, x, rows, k, Math.min(block, inputs - k), sums);
        }
    }

    private void block(PackedMatrix weights, long at, float[] x, int rows, int k, int steps, float[] sums) {
        RegisterTiles high = tall[weights.format().ordinal()];
        RegisterTiles few = low[weights.format().ordinal()];
        MemorySegment w = weights.memory();
        for (int c = 0; c < COLUMNS; c += tileColumns) {
            int height;
            for (int row = 0; row < rows; row += height) {
                height = RowTiles.height(row, rows, tallest);
                int from = row * weights.inputs() + k * height;
                RegisterTiles tiles = height > 2 ? high : few;
                tiles.add(height, w, at + 4L * c, x, from, steps, sums, row * COLUMNS + c);
            }
        }
    }
}
