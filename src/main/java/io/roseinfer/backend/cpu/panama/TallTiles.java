package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.WeightFormat;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Tiles of eight rows, and of four. A copy of this class serves one weight format: narrow weights are widened in registers as
 * they are loaded.
 */
final class TallTiles implements RegisterTiles {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
    private static final VectorSpecies<Integer> I = F.withLanes(int.class);
    private static final WeightFormat FORMAT = Specialization.format(MethodHandles.lookup());
    private static final int PER_WORD = FORMAT.perWord();
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int L = F.length();
    private static final int VECTOR_BYTES = 4 * L;
    private static final int READERS = Specialization.readers(MethodHandles.lookup());
    private static final int STREAMS = NextBlock.streams(PER_WORD);
    private static final long STRIDE = NextBlock.stride(READERS);

    /** Keeps what is read ahead from being compiled away. */
    @SuppressWarnings("UnusedVariable")
    private int touched;

    TallTiles(int contextLength) {}

    @Override
    public void add(
            int height, MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
        if (height == 8) {
            touched += tile8(w, at, next, x, from, steps, sums, to);
        } else {
            touched += tile4(w, at, next, x, from, steps, sums, to);
        }
    }

    /** Where {@link #raised} loads the words of input {@code k}: up to three bytes before they begin, on a little-endian machine. */
    private static long offset(int k) {
        return (k / PER_WORD) * (long) ROW_BYTES - (PER_WORD - 1 - k % PER_WORD) * (4L / PER_WORD);
    }

    /** Weights whose bits the address {@code at} puts at the top of their lanes; below them are another input's. */
    private static FloatVector raised(MemorySegment w, long at) {
        return FORMAT == WeightFormat.F32
                ? FloatVector.fromMemorySegment(F, w, at, ORDER)
                : top(IntVector.fromMemorySegment(I, w, at, ORDER));
    }

    private static FloatVector top(IntVector word) {
        return FORMAT == WeightFormat.BF16
                ? word.and(0xffff0000).reinterpretAsFloats()
                : (FloatVector) word.and(0xff000000).convert(VectorOperators.I2F, 0);
    }

    private static int tile8(
            MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
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
        int touched = 0;
        long apart = steps * STRIDE;
        for (int k = 0; k < steps; k++) {
            long row = at + offset(k);
            if (READERS > 0) {
                touched += NextBlock.read(w, next + k * STRIDE, apart, STREAMS);
            }
            FloatVector w0 = raised(w, row);
            FloatVector w1 = raised(w, row + VECTOR_BYTES);
            FloatVector w2 = raised(w, row + 2L * VECTOR_BYTES);
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
        return touched;
    }

    private static int tile4(
            MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
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
        int touched = 0;
        long apart = steps * STRIDE;
        for (int k = 0; k < steps; k++) {
            long row = at + offset(k);
            if (READERS > 0) {
                touched += NextBlock.read(w, next + k * STRIDE, apart, STREAMS);
            }
            FloatVector w0 = raised(w, row);
            FloatVector w1 = raised(w, row + VECTOR_BYTES);
            FloatVector w2 = raised(w, row + 2L * VECTOR_BYTES);
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
        return touched;
    }
}
