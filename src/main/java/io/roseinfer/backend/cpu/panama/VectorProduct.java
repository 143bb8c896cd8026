package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelProduct;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
    /** Bytes of the arrays. */
    static final long BYTES = (long) Integer.BYTES * GemmInt4Tiles.PAIRS;

    /** Inputs per block; a multiple of every format's weights per word. */
    private static final int BLOCK = 768;

    /** Formats that are multiplied as floats. */
    private static final List<WeightFormat> FLOATING = List.of(WeightFormat.F32, WeightFormat.BF16, WeightFormat.INT8);

    /** The tiles of one format, by how many of them prefetch, from 0. */
    private record FloatTiles(List<RegisterTiles<float[]>> gemm, List<RegisterTiles<float[]>> gemv) {}

    private final boolean prefetch;
    private final int tallest;
    private final int tileColumns;
    /** By format, in the order of {@link WeightFormat}. */
    private final List<FloatTiles> floatTiles;

    private final RegisterTiles<int[]> gemmInt4;
    private final RegisterTiles<int[]> gemvInt4;

    /**
     * For vectors of {@code bits} bits.
     *
     * @param prefetch whether tiles may prefetch the next block of weights
     */
    VectorProduct(int bits, boolean prefetch) {
        this.prefetch = prefetch;
        int lanes = bits / Float.SIZE;
        tallest = lanes == 16 ? 8 : 4;
        tileColumns = RegisterTiles.VECTORS * lanes;
        int mostPrefetchers = prefetch ? BlockPrefetch.MOST_PREFETCHERS : 0;
        floatTiles = FLOATING.stream()
                .map(format -> floatTiles(bits, format, mostPrefetchers))
                .toList();
        TileSpec int4 = new TileSpec(bits, WeightFormat.INT4, 0);
        gemmInt4 = Specialization.of(GemmInt4Tiles.class, int4);
        gemvInt4 = Specialization.of(GemvInt4Tiles.class, int4);
    }

    private static FloatTiles floatTiles(int bits, WeightFormat format, int mostPrefetchers) {
        Class<? extends RegisterTiles<float[]>> gemv =
                format == WeightFormat.INT8 ? GemvInt8Tiles.class : GemvTiles.class;
        return new FloatTiles(
                copies(GemmTiles.class, bits, format, mostPrefetchers), copies(gemv, bits, format, mostPrefetchers));
    }

    private static List<RegisterTiles<float[]>> copies(
            Class<? extends RegisterTiles<float[]>> template, int bits, WeightFormat format, int mostPrefetchers) {
        List<RegisterTiles<float[]>> copies = new ArrayList<>();
        for (int prefetchers = 0; prefetchers <= mostPrefetchers; prefetchers++) {
            copies.add(Specialization.of(template, new TileSpec(bits, format, prefetchers)));
        }
        return List.copyOf(copies);
    }

    @Override
    public int tallestTile() {
        return tallest;
    }

    /** Each height of tile; where tiles prefetch, each in the place of every prefetcher and behind the last of them. */
    @Override
    public int[] representativeRows() {
        int places = prefetch ? BlockPrefetch.MOST_PREFETCHERS + 1 : 1;
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
        FloatTiles tiles = floatTiles.get(weights.format().ordinal());
        MemorySegment w = weights.memory();
        long bytes = Math.ceilDiv(steps, weights.format().perWord()) * (long) ROW_BYTES;
        // The next block follows in memory, be it of this panel or of the next. After the last, tiles prefetch their
        // own
        // again: a copy without prefetching, called for that alone, was compiled badly (it boxed vectors).
        long next = at + 2 * bytes <= weights.panelStart(weights.panels()) ? at + bytes : at;
        int prefetchers = prefetchers(weights.format(), rows);
        int tile = 0;
        for (int c = 0; c < COLUMNS; c += tileColumns) {
            int height;
            for (int row = 0; row < rows; row += height) {
                height = RowTiles.height(row, rows, tallest);
                int from = row * weights.inputs() + k * height;
                int sharers = tile < prefetchers ? prefetchers : 0;
                long ahead = sharers > 0 ? next + tile * (bytes / sharers) : at;
                List<RegisterTiles<float[]>> copies = height > 2 ? tiles.gemm : tiles.gemv;
                copies.get(sharers).add(height, w, at + 4L * c, ahead, x, from, steps, sums, row * COLUMNS + c);
                tile++;
            }
        }
    }

    /** Tiles of a block that prefetch the next one: none where that loses (figures: {@link BlockPrefetch}). */
    private int prefetchers(WeightFormat format, int rows) {
        if (!prefetch) {
            return 0;
        }
        int tiles = RowTiles.count(rows, tallest) * (COLUMNS / tileColumns);
        return switch (format) {
            case F32 -> rows == 1 ? 0 : Math.min(tiles, BlockPrefetch.MOST_PREFETCHERS);
            case BF16 -> Math.min(tiles, BlockPrefetch.MOST_PREFETCHERS);
            case INT8 -> rows <= 2 * tallest ? 1 : Math.min(tiles, BlockPrefetch.MOST_PREFETCHERS);
            case INT4 -> 0;
        };
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
                RegisterTiles<int[]> tiles = height > 2 ? gemmInt4 : gemvInt4;
                int to = row * COLUMNS + c;
                tiles.add(height, weights.memory(), at + 4L * c, at, x, row * words, groups, sums, to);
            }
        }
    }
}
