package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.PanelProduct;
import io.roseinfer.backend.cpu.kernel.RowTiles;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Register tiles of eight rows (four for vectors below 512 bits, whose processors may have 16 registers) by three vectors. The
 * inputs are taken in blocks whose weights stay in the first-level cache while every tile of rows passes over them; the sums
 * wait in memory meanwhile, which does not change their order.
 *
 * <p>Narrow weights are widened one block at a time and shared by the rows; bfloat16 under a single row in registers. (The same
 * for int8 was tried: C2 stops inlining in so large a loop, and it ran at a third of the speed.)
 */
final class VectorProduct implements PanelProduct {
    private static final VectorSpecies<Float> F = VectorWidth.of(MethodHandles.lookup());
    private static final VectorSpecies<Integer> I = F.withLanes(int.class);
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int L = F.length();
    private static final int VECTOR_BYTES = 4 * L;
    private static final int TILE_COLUMNS = 3 * L;
    private static final int TALLEST = L == 16 ? 8 : 4;
    /** Inputs per block; a multiple of every format's weights per word. */
    private static final int BLOCK = 128;

    private final MemorySegment widened = Arena.ofAuto().allocate((long) BLOCK * ROW_BYTES, 64);

    VectorProduct(int contextLength) {}

    @Override
    public int tallestTile() {
        return TALLEST;
    }

    @Override
    public void multiply(float[] x, int rows, PackedMatrix weights, int panel, float[] sums) {
        Arrays.fill(sums, 0, rows * COLUMNS, 0f);
        int inputs = weights.inputs();
        for (int k = 0; k < inputs; k += BLOCK) {
            int steps = Math.min(BLOCK, inputs - k);
            long at = weights.panelStart(panel) + (k / weights.format().perWord()) * (long) ROW_BYTES;
            if (weights.format() == WeightFormat.F32) {
                block(weights.memory(), at, x, rows, inputs, k, steps, sums);
            } else if (weights.format() == WeightFormat.BF16 && rows == 1) {
                single(weights, at, x, k, steps, sums);
            } else {
                widen(weights, at, steps);
                block(widened, 0, x, rows, inputs, k, steps, sums);
            }
        }
    }

    private static void block(
            MemorySegment w, long at, float[] x, int rows, int inputs, int k, int steps, float[] sums) {
        for (int c = 0; c < COLUMNS; c += TILE_COLUMNS) {
            int height;
            for (int row = 0; row < rows; row += height) {
                height = RowTiles.height(row, rows, TALLEST);
                int from = row * inputs + k * height;
                int to = row * COLUMNS + c;
                switch (height) {
                    case 8 -> tile8(w, at + 4L * c, x, from, steps, sums, to);
                    case 4 -> tile4(w, at + 4L * c, x, from, steps, sums, to);
                    case 2 -> tile2(w, at + 4L * c, x, from, steps, sums, to);
                    default -> tile1(w, at + 4L * c, x, from, steps, sums, to);
                }
            }
        }
    }

    private void widen(PackedMatrix weights, long at, int steps) {
        if (weights.format() == WeightFormat.BF16) {
            widenBf16(weights.memory(), at, steps);
        } else {
            widenInt8(weights.memory(), at, steps);
        }
    }

    private void widenBf16(MemorySegment w, long at, int steps) {
        for (int k = 0; k < steps; k += 2) {
            long from = at + (k / 2) * (long) ROW_BYTES;
            long to = k * (long) ROW_BYTES;
            for (int c = 0; c < ROW_BYTES; c += VECTOR_BYTES) {
                IntVector word = IntVector.fromMemorySegment(I, w, from + c, ORDER);
                bf16Low(word).intoMemorySegment(widened, to + c, ORDER);
                bf16High(word).intoMemorySegment(widened, to + ROW_BYTES + c, ORDER);
            }
        }
    }

    private void widenInt8(MemorySegment w, long at, int steps) {
        for (int k = 0; k < steps; k += 4) {
            long from = at + (k / 4) * (long) ROW_BYTES;
            long to = k * (long) ROW_BYTES;
            for (int c = 0; c < ROW_BYTES; c += VECTOR_BYTES) {
                IntVector word = IntVector.fromMemorySegment(I, w, from + c, ORDER);
                int8(word, 24).intoMemorySegment(widened, to + c, ORDER);
                int8(word, 16).intoMemorySegment(widened, to + ROW_BYTES + c, ORDER);
                int8(word, 8).intoMemorySegment(widened, to + 2 * ROW_BYTES + c, ORDER);
                int8(word, 0).intoMemorySegment(widened, to + 3 * ROW_BYTES + c, ORDER);
            }
        }
    }

    /** One row over bfloat16: whole words in registers, then the input of a last word that is not full. */
    private void single(PackedMatrix weights, long at, float[] x, int from, int steps, float[] sums) {
        int whole = steps - steps % 2;
        for (int c = 0; c < COLUMNS; c += TILE_COLUMNS) {
            rowBf16(weights.memory(), at + 4L * c, x, from, whole, sums, c);
        }
        if (whole < steps) {
            widenBf16(weights.memory(), at + (whole / 2) * (long) ROW_BYTES, 1);
            block(widened, 0, x, 1, 0, from + whole, 1, sums);
        }
    }

    private static void rowBf16(MemorySegment w, long at, float[] x, int from, int steps, float[] sums, int to) {
        FloatVector s0 = FloatVector.fromArray(F, sums, to);
        FloatVector s1 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s2 = FloatVector.fromArray(F, sums, to + 2 * L);
        for (int k = 0; k < steps; k += 2) {
            long row = at + (k / 2) * (long) ROW_BYTES;
            IntVector w0 = IntVector.fromMemorySegment(I, w, row, ORDER);
            IntVector w1 = IntVector.fromMemorySegment(I, w, row + VECTOR_BYTES, ORDER);
            IntVector w2 = IntVector.fromMemorySegment(I, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector even = FloatVector.broadcast(F, x[from + k]);
            s0 = even.fma(bf16Low(w0), s0);
            s1 = even.fma(bf16Low(w1), s1);
            s2 = even.fma(bf16Low(w2), s2);
            FloatVector odd = FloatVector.broadcast(F, x[from + k + 1]);
            s0 = odd.fma(bf16High(w0), s0);
            s1 = odd.fma(bf16High(w1), s1);
            s2 = odd.fma(bf16High(w2), s2);
        }
        s0.intoArray(sums, to);
        s1.intoArray(sums, to + L);
        s2.intoArray(sums, to + 2 * L);
    }

    private static FloatVector bf16Low(IntVector word) {
        return word.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
    }

    private static FloatVector bf16High(IntVector word) {
        return word.and(0xffff0000).reinterpretAsFloats();
    }

    /** The signed byte that {@code left} more bits lie above, as floats. */
    private static FloatVector int8(IntVector word, int left) {
        IntVector top = left == 0 ? word : word.lanewise(VectorOperators.LSHL, left);
        return (FloatVector) top.lanewise(VectorOperators.ASHR, 24).convert(VectorOperators.I2F, 0);
    }

    private static void tile8(MemorySegment w, long at, float[] x, int from, int steps, float[] sums, int to) {
        FloatVector s00 = FloatVector.fromArray(F, sums, to);
        FloatVector s01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s02 = FloatVector.fromArray(F, sums, to + 2 * L);
        FloatVector s10 = FloatVector.fromArray(F, sums, to + COLUMNS);
        FloatVector s11 = FloatVector.fromArray(F, sums, to + COLUMNS + L);
        FloatVector s12 = FloatVector.fromArray(F, sums, to + COLUMNS + 2 * L);
        FloatVector s20 = FloatVector.fromArray(F, sums, to + 2 * COLUMNS);
        FloatVector s21 = FloatVector.fromArray(F, sums, to + 2 * COLUMNS + L);
        FloatVector s22 = FloatVector.fromArray(F, sums, to + 2 * COLUMNS + 2 * L);
        FloatVector s30 = FloatVector.fromArray(F, sums, to + 3 * COLUMNS);
        FloatVector s31 = FloatVector.fromArray(F, sums, to + 3 * COLUMNS + L);
        FloatVector s32 = FloatVector.fromArray(F, sums, to + 3 * COLUMNS + 2 * L);
        FloatVector s40 = FloatVector.fromArray(F, sums, to + 4 * COLUMNS);
        FloatVector s41 = FloatVector.fromArray(F, sums, to + 4 * COLUMNS + L);
        FloatVector s42 = FloatVector.fromArray(F, sums, to + 4 * COLUMNS + 2 * L);
        FloatVector s50 = FloatVector.fromArray(F, sums, to + 5 * COLUMNS);
        FloatVector s51 = FloatVector.fromArray(F, sums, to + 5 * COLUMNS + L);
        FloatVector s52 = FloatVector.fromArray(F, sums, to + 5 * COLUMNS + 2 * L);
        FloatVector s60 = FloatVector.fromArray(F, sums, to + 6 * COLUMNS);
        FloatVector s61 = FloatVector.fromArray(F, sums, to + 6 * COLUMNS + L);
        FloatVector s62 = FloatVector.fromArray(F, sums, to + 6 * COLUMNS + 2 * L);
        FloatVector s70 = FloatVector.fromArray(F, sums, to + 7 * COLUMNS);
        FloatVector s71 = FloatVector.fromArray(F, sums, to + 7 * COLUMNS + L);
        FloatVector s72 = FloatVector.fromArray(F, sums, to + 7 * COLUMNS + 2 * L);
        for (int k = 0; k < steps; k++) {
            long row = at + (long) k * ROW_BYTES;
            FloatVector w0 = FloatVector.fromMemorySegment(F, w, row, ORDER);
            FloatVector w1 = FloatVector.fromMemorySegment(F, w, row + VECTOR_BYTES, ORDER);
            FloatVector w2 = FloatVector.fromMemorySegment(F, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector x0 = FloatVector.broadcast(F, x[from + 8 * k]);
            s00 = x0.fma(w0, s00);
            s01 = x0.fma(w1, s01);
            s02 = x0.fma(w2, s02);
            FloatVector x1 = FloatVector.broadcast(F, x[from + 8 * k + 1]);
            s10 = x1.fma(w0, s10);
            s11 = x1.fma(w1, s11);
            s12 = x1.fma(w2, s12);
            FloatVector x2 = FloatVector.broadcast(F, x[from + 8 * k + 2]);
            s20 = x2.fma(w0, s20);
            s21 = x2.fma(w1, s21);
            s22 = x2.fma(w2, s22);
            FloatVector x3 = FloatVector.broadcast(F, x[from + 8 * k + 3]);
            s30 = x3.fma(w0, s30);
            s31 = x3.fma(w1, s31);
            s32 = x3.fma(w2, s32);
            FloatVector x4 = FloatVector.broadcast(F, x[from + 8 * k + 4]);
            s40 = x4.fma(w0, s40);
            s41 = x4.fma(w1, s41);
            s42 = x4.fma(w2, s42);
            FloatVector x5 = FloatVector.broadcast(F, x[from + 8 * k + 5]);
            s50 = x5.fma(w0, s50);
            s51 = x5.fma(w1, s51);
            s52 = x5.fma(w2, s52);
            FloatVector x6 = FloatVector.broadcast(F, x[from + 8 * k + 6]);
            s60 = x6.fma(w0, s60);
            s61 = x6.fma(w1, s61);
            s62 = x6.fma(w2, s62);
            FloatVector x7 = FloatVector.broadcast(F, x[from + 8 * k + 7]);
            s70 = x7.fma(w0, s70);
            s71 = x7.fma(w1, s71);
            s72 = x7.fma(w2, s72);
        }
        s00.intoArray(sums, to);
        s01.intoArray(sums, to + L);
        s02.intoArray(sums, to + 2 * L);
        s10.intoArray(sums, to + COLUMNS);
        s11.intoArray(sums, to + COLUMNS + L);
        s12.intoArray(sums, to + COLUMNS + 2 * L);
        s20.intoArray(sums, to + 2 * COLUMNS);
        s21.intoArray(sums, to + 2 * COLUMNS + L);
        s22.intoArray(sums, to + 2 * COLUMNS + 2 * L);
        s30.intoArray(sums, to + 3 * COLUMNS);
        s31.intoArray(sums, to + 3 * COLUMNS + L);
        s32.intoArray(sums, to + 3 * COLUMNS + 2 * L);
        s40.intoArray(sums, to + 4 * COLUMNS);
        s41.intoArray(sums, to + 4 * COLUMNS + L);
        s42.intoArray(sums, to + 4 * COLUMNS + 2 * L);
        s50.intoArray(sums, to + 5 * COLUMNS);
        s51.intoArray(sums, to + 5 * COLUMNS + L);
        s52.intoArray(sums, to + 5 * COLUMNS + 2 * L);
        s60.intoArray(sums, to + 6 * COLUMNS);
        s61.intoArray(sums, to + 6 * COLUMNS + L);
        s62.intoArray(sums, to + 6 * COLUMNS + 2 * L);
        s70.intoArray(sums, to + 7 * COLUMNS);
        s71.intoArray(sums, to + 7 * COLUMNS + L);
        s72.intoArray(sums, to + 7 * COLUMNS + 2 * L);
    }

    private static void tile4(MemorySegment w, long at, float[] x, int from, int steps, float[] sums, int to) {
        FloatVector s00 = FloatVector.fromArray(F, sums, to);
        FloatVector s01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s02 = FloatVector.fromArray(F, sums, to + 2 * L);
        FloatVector s10 = FloatVector.fromArray(F, sums, to + COLUMNS);
        FloatVector s11 = FloatVector.fromArray(F, sums, to + COLUMNS + L);
        FloatVector s12 = FloatVector.fromArray(F, sums, to + COLUMNS + 2 * L);
        FloatVector s20 = FloatVector.fromArray(F, sums, to + 2 * COLUMNS);
        FloatVector s21 = FloatVector.fromArray(F, sums, to + 2 * COLUMNS + L);
        FloatVector s22 = FloatVector.fromArray(F, sums, to + 2 * COLUMNS + 2 * L);
        FloatVector s30 = FloatVector.fromArray(F, sums, to + 3 * COLUMNS);
        FloatVector s31 = FloatVector.fromArray(F, sums, to + 3 * COLUMNS + L);
        FloatVector s32 = FloatVector.fromArray(F, sums, to + 3 * COLUMNS + 2 * L);
        for (int k = 0; k < steps; k++) {
            long row = at + (long) k * ROW_BYTES;
            FloatVector w0 = FloatVector.fromMemorySegment(F, w, row, ORDER);
            FloatVector w1 = FloatVector.fromMemorySegment(F, w, row + VECTOR_BYTES, ORDER);
            FloatVector w2 = FloatVector.fromMemorySegment(F, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector x0 = FloatVector.broadcast(F, x[from + 4 * k]);
            s00 = x0.fma(w0, s00);
            s01 = x0.fma(w1, s01);
            s02 = x0.fma(w2, s02);
            FloatVector x1 = FloatVector.broadcast(F, x[from + 4 * k + 1]);
            s10 = x1.fma(w0, s10);
            s11 = x1.fma(w1, s11);
            s12 = x1.fma(w2, s12);
            FloatVector x2 = FloatVector.broadcast(F, x[from + 4 * k + 2]);
            s20 = x2.fma(w0, s20);
            s21 = x2.fma(w1, s21);
            s22 = x2.fma(w2, s22);
            FloatVector x3 = FloatVector.broadcast(F, x[from + 4 * k + 3]);
            s30 = x3.fma(w0, s30);
            s31 = x3.fma(w1, s31);
            s32 = x3.fma(w2, s32);
        }
        s00.intoArray(sums, to);
        s01.intoArray(sums, to + L);
        s02.intoArray(sums, to + 2 * L);
        s10.intoArray(sums, to + COLUMNS);
        s11.intoArray(sums, to + COLUMNS + L);
        s12.intoArray(sums, to + COLUMNS + 2 * L);
        s20.intoArray(sums, to + 2 * COLUMNS);
        s21.intoArray(sums, to + 2 * COLUMNS + L);
        s22.intoArray(sums, to + 2 * COLUMNS + 2 * L);
        s30.intoArray(sums, to + 3 * COLUMNS);
        s31.intoArray(sums, to + 3 * COLUMNS + L);
        s32.intoArray(sums, to + 3 * COLUMNS + 2 * L);
    }

    private static void tile2(MemorySegment w, long at, float[] x, int from, int steps, float[] sums, int to) {
        FloatVector s00 = FloatVector.fromArray(F, sums, to);
        FloatVector s01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s02 = FloatVector.fromArray(F, sums, to + 2 * L);
        FloatVector s10 = FloatVector.fromArray(F, sums, to + COLUMNS);
        FloatVector s11 = FloatVector.fromArray(F, sums, to + COLUMNS + L);
        FloatVector s12 = FloatVector.fromArray(F, sums, to + COLUMNS + 2 * L);
        for (int k = 0; k < steps; k++) {
            long row = at + (long) k * ROW_BYTES;
            FloatVector w0 = FloatVector.fromMemorySegment(F, w, row, ORDER);
            FloatVector w1 = FloatVector.fromMemorySegment(F, w, row + VECTOR_BYTES, ORDER);
            FloatVector w2 = FloatVector.fromMemorySegment(F, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector x0 = FloatVector.broadcast(F, x[from + 2 * k]);
            s00 = x0.fma(w0, s00);
            s01 = x0.fma(w1, s01);
            s02 = x0.fma(w2, s02);
            FloatVector x1 = FloatVector.broadcast(F, x[from + 2 * k + 1]);
            s10 = x1.fma(w0, s10);
            s11 = x1.fma(w1, s11);
            s12 = x1.fma(w2, s12);
        }
        s00.intoArray(sums, to);
        s01.intoArray(sums, to + L);
        s02.intoArray(sums, to + 2 * L);
        s10.intoArray(sums, to + COLUMNS);
        s11.intoArray(sums, to + COLUMNS + L);
        s12.intoArray(sums, to + COLUMNS + 2 * L);
    }

    private static void tile1(MemorySegment w, long at, float[] x, int from, int steps, float[] sums, int to) {
        FloatVector s00 = FloatVector.fromArray(F, sums, to);
        FloatVector s01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s02 = FloatVector.fromArray(F, sums, to + 2 * L);
        for (int k = 0; k < steps; k++) {
            long row = at + (long) k * ROW_BYTES;
            FloatVector w0 = FloatVector.fromMemorySegment(F, w, row, ORDER);
            FloatVector w1 = FloatVector.fromMemorySegment(F, w, row + VECTOR_BYTES, ORDER);
            FloatVector w2 = FloatVector.fromMemorySegment(F, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector x0 = FloatVector.broadcast(F, x[from + k]);
            s00 = x0.fma(w0, s00);
            s01 = x0.fma(w1, s01);
            s02 = x0.fma(w2, s02);
        }
        s00.intoArray(sums, to);
        s01.intoArray(sums, to + L);
        s02.intoArray(sums, to + 2 * L);
    }
}
