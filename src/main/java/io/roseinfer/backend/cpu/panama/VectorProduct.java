package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelProduct;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

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
 *
 * <p>INT4 takes all inputs in one pass under any number of rows: its panels are an eighth as large.
 */
final class VectorProduct implements PanelProduct {
    /** Inputs per block; a multiple of every format's weights per word. */
    private static final int BLOCK = 768;

    /** Formats that are multiplied as floats. */
    private static final List<WeightFormat> FLOATING = List.of(WeightFormat.F32, WeightFormat.BF16, WeightFormat.INT8);

    private final boolean readAhead;
    private final int tallest;
    private final int tileColumns;
    /** By format, then by how many tiles share the reading ahead, from 0 for tiles that do not read ahead. */
    private final RegisterTiles[][] tall;

    private final RegisterTiles[][] low;
    private final Int4Tiles tallInt4;
    private final Int4Tiles lowInt4;

    /**
     * For vectors of {@code bits} bits.
     *
     * @param readAhead whether tiles may read the next block of weights ahead
     */
    VectorProduct(int bits, boolean readAhead) {
        this.readAhead = readAhead;
        int lanes = bits / Float.SIZE;
        tallest = lanes == 16 ? 8 : 4;
        tileColumns = RegisterTiles.VECTORS * lanes;
        int mostReaders = readAhead ? NextBlock.MOST_READERS : 0;
        tall = copies(format -> TallTiles.class, bits, mostReaders);
        low = copies(format -> format == WeightFormat.INT8 ? LowByteTiles.class : LowTiles.class, bits, mostReaders);
        tallInt4 = Specialization.of(Int4Tiles.class, TallInt4Tiles.class, bits, 0);
        lowInt4 = Specialization.of(Int4Tiles.class, LowInt4Tiles.class, bits, 0);
    }

    private static RegisterTiles[][] copies(
            Function<WeightFormat, Class<? extends RegisterTiles>> template, int bits, int mostReaders) {
        RegisterTiles[][] copies = new RegisterTiles[WeightFormat.values().length][mostReaders + 1];
        for (WeightFormat format : FLOATING) {
            for (int readers = 0; readers <= mostReaders; readers++) {
                copies[format.ordinal()][readers] =
                        Specialization.of(RegisterTiles.class, template.apply(format), bits, format, readers);
            }
        }
        return copies;
    }

    @Override
    public int tallestTile() {
        return tallest;
    }

    /** Each height of tile; where tiles read ahead, each in the place of every reader and behind the last of them. */
    @Override
    public int[] representativeRows() {
        int places = readAhead ? NextBlock.MOST_READERS + 1 : 1;
        return IntStream.iterate(tallest, height -> height > 0, height -> height / 2)
                .flatMap(height -> IntStream.range(0, places).map(before -> before * tallest + height))
                .toArray();
    }

    @Override
    public void multiply(float[] x, int rows, PackedMatrix weights, int panel, float[] sums) {
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        int inputs = weights.inputs();
        int perWord = weights.format().perWord();
        int block = rows <= tallest ? inputs : BLOCK;
        for (int k = 0; k < inputs; k += block) {
            int steps = Math.min(block, inputs - k);
            long at = weights.panelStart(panel) + (k / perWord) * (long) ROW_BYTES;
            block(weights, at, x, rows, k, steps, sums);
        }
    }

    private void block(PackedMatrix weights, long at, float[] x, int rows, int k, int steps, float[] sums) {
        RegisterTiles[] high = tall[weights.format().ordinal()];
        RegisterTiles[] few = low[weights.format().ordinal()];
        MemorySegment w = weights.memory();
        long bytes = Math.ceilDiv(steps, weights.format().perWord()) * (long) ROW_BYTES;
        // The next block follows in memory, be it of this panel or of the next. After the last, tiles read their own
        // again: a copy without reading, called for that alone, was compiled badly (it boxed vectors).
        long next = at + 2 * bytes <= weights.panelStart(weights.panels()) ? at + bytes : at;
        int readers = readers(weights.format(), rows);
        int tile = 0;
        for (int c = 0; c < COLUMNS; c += tileColumns) {
            int height;
            for (int row = 0; row < rows; row += height) {
                height = RowTiles.height(row, rows, tallest);
                int from = row * weights.inputs() + k * height;
                int sharers = tile < readers ? readers : 0;
                long ahead = sharers > 0 ? next + tile * (bytes / sharers) : at;
                RegisterTiles tiles = height > 2 ? high[sharers] : few[sharers];
                tiles.add(height, w, at + 4L * c, ahead, x, from, steps, sums, row * COLUMNS + c);
                tile++;
            }
        }
    }

    /** How many tiles of a block read the next one ahead: none where that loses (figures: {@link NextBlock}). */
    private int readers(WeightFormat format, int rows) {
        if (!readAhead) {
            return 0;
        }
        int tiles = RowTiles.count(rows, tallest) * (COLUMNS / tileColumns);
        boolean pays =
                switch (format) {
                    case F32 -> rows > 1;
                    case BF16 -> true;
                    case INT8 -> rows <= 2 || tiles >= NextBlock.MOST_READERS;
                    case INT4 -> false;
                };
        return pays ? Math.min(tiles, NextBlock.MOST_READERS) : 0;
    }

    @Override
    public void multiply(int[] x, int rows, PackedMatrix weights, int panel, float[] sums) {
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        int groups = QuantizedRows.groups(weights.inputs());
        int words = QuantizedRows.words(weights.inputs());
        long at = weights.panelStart(panel);
        for (int c = 0; c < COLUMNS; c += tileColumns) {
            int height;
            for (int row = 0; row < rows; row += height) {
                height = RowTiles.height(row, rows, tallest);
                Int4Tiles tiles = height > 2 ? tallInt4 : lowInt4;
                int to = row * COLUMNS + c;
                tiles.add(height, weights.memory(), at + 4L * c, x, row * words, groups, sums, to);
            }
        }
    }
}
