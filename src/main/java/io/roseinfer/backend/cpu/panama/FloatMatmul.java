package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelMatmul;
import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Products with weights of a format that is multiplied as floats, by register tiles of eight rows (four for vectors below 512 bits,
 * whose processors may have 16 registers) by three vectors. One tile of rows takes all inputs in one pass; under more, the inputs come
 * in blocks whose weights stay in the second-level cache while every tile passes over them, and the sums wait in memory meanwhile,
 * which does not change their order.
 *
 * <p>Narrow weights are widened in registers, in every tile again. Widening a block once, into memory that all tiles then read, was
 * slower.
 */
final class FloatMatmul implements PanelMatmul {
    /** How many of the {@code tiles} of a block prefetch the next one, where tiles may prefetch. */
    interface Prefetchers {
        int of(int rows, int tiles);
    }

    /** Inputs per block; a multiple of every format's weights per word. */
    private static final int BLOCK = 768;

    private final WeightFormat format;
    private final boolean prefetch;
    private final Prefetchers prefetchers;
    private final int tallest;
    private final int tileColumns;
    /** Tiles of more than two rows, by how many of them prefetch, from 0. */
    private final List<RegisterTiles<float[]>> gemm;

    /** Tiles of one row or two. */
    private final List<RegisterTiles<float[]>> gemv;

    /**
     * For vectors of {@code bits} bits.
     *
     * @param gemv the template of tiles of one row or two
     * @param prefetch whether tiles may prefetch the next block of weights
     */
    FloatMatmul(
            int bits,
            WeightFormat format,
            Class<? extends RegisterTiles<float[]>> gemv,
            boolean prefetch,
            Prefetchers prefetchers) {
        this.format = format;
        this.prefetch = prefetch;
        this.prefetchers = prefetchers;
        this.tallest = RegisterTiles.tallest(bits);
        this.tileColumns = RegisterTiles.columns(bits);
        this.gemm = copies(GemmTiles.class, bits);
        this.gemv = copies(gemv, bits);
    }

    private List<RegisterTiles<float[]>> copies(Class<? extends RegisterTiles<float[]>> template, int bits) {
        List<RegisterTiles<float[]>> copies = new ArrayList<>();
        for (int sharers = 0; sharers <= (prefetch ? BlockPrefetch.MAX_PREFETCHERS : 0); sharers++) {
            copies.add(Specialization.of(template, new TileSpec(bits, format, sharers)));
        }
        return List.copyOf(copies);
    }

    @Override
    public int tallestTile() {
        return tallest;
    }

    /** Each height of tile; where tiles prefetch, each in the place of every prefetcher and after the last of them. */
    @Override
    public int[] representativeRows() {
        int places = prefetch ? BlockPrefetch.MAX_PREFETCHERS + 1 : 1;
        return IntStream.iterate(tallest, height -> height > 0, height -> height / 2)
                .flatMap(height -> IntStream.range(0, places).map(before -> before * tallest + height))
                .toArray();
    }

    @Override
    public void multiply(MatmulInput x, int rows, PackedMatrix weights, int panel, float[] sums) {
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        int inputs = weights.inputs();
        int block = rows <= tallest ? inputs : BLOCK;
        for (int k = 0; k < inputs; k += block) {
            int steps = Math.min(block, inputs - k);
            block(weights, weights.panelStart(panel) + format.rowOf(k), x.floats(), rows, k, steps, sums);
        }
    }

    private void block(PackedMatrix weights, long at, float[] x, int rows, int k, int steps, float[] sums) {
        MemorySegment w = weights.memory();
        long bytes = Math.ceilDiv(steps, format.perWord()) * (long) ROW_BYTES;
        // The next block follows in memory, be it of this panel or of the next. After the last, tiles prefetch their
        // own
        // again: a copy without prefetching, called for that alone, was compiled badly (it boxed vectors).
        long next = at + 2 * bytes <= weights.panelStart(weights.panels()) ? at + bytes : at;
        int prefetching = prefetch ? prefetchers.of(rows, RowTiles.count(rows, tallest) * (COLUMNS / tileColumns)) : 0;
        int tile = 0;
        for (int c = 0; c < COLUMNS; c += tileColumns) {
            int height;
            for (int row = 0; row < rows; row += height) {
                height = RowTiles.height(row, rows, tallest);
                int from = row * weights.inputs() + k * height;
                int sharers = tile < prefetching ? prefetching : 0;
                long ahead = sharers > 0 ? next + tile * (bytes / sharers) : at;
                List<RegisterTiles<float[]>> copies = height > 2 ? gemm : gemv;
                copies.get(sharers).add(height, w, at + 4L * c, ahead, x, from, steps, sums, row * COLUMNS + c);
                tile++;
            }
        }
    }
}
