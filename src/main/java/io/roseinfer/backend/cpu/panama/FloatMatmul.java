package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.MatmulInput;
import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelMatmul;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Matmul with weights that are multiplied as floats, by register tiles of eight rows (four for vectors below 512 bits, whose processors
 * may have 16 registers) by three vectors. One row tile takes all inputs in one pass. With more, inputs are split into blocks whose
 * weights stay in L2 while all tiles use them; accumulators wait in memory, which does not change their order.
 *
 * <p>Narrow weights are widened in registers in every tile; widening a block once in memory was slower.
 */
final class FloatMatmul implements PanelMatmul {
    /** Selects how many {@code tiles} of a block prefetch the next one. */
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
    /** Tiles of more than two rows, by number of prefetchers. */
    private final List<RegisterTiles<float[]>> gemm;

    /** Tiles of one or two rows, by number of prefetchers. */
    private final List<RegisterTiles<float[]>> gemv;

    /**
     * Creates kernels for vectors of {@code bits} bits.
     *
     * @param gemv template of the tiles of one or two rows
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

    /** Returns every tile height; with prefetch, in the position of every prefetcher and after the last. */
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
        // The next block follows in memory, in this panel or the next. After the last one tiles prefetch their own
        // block:
        // C2 compiled a copy without prefetching, called only there, badly (it boxed vectors).
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
