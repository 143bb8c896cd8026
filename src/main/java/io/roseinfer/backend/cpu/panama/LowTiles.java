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

/** Tiles of two rows, and of one, for one format of weights that share a word with one other or none. */
final class LowTiles implements RegisterTiles {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
    private static final VectorSpecies<Integer> I = F.withLanes(int.class);
    private static final WeightFormat FORMAT = Specialization.format(MethodHandles.lookup());
    private static final int PER_WORD = FORMAT.perWord();
    private static final long ROW_STEP = ROW_BYTES / PER_WORD;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int L = F.length();
    private static final int VECTOR_BYTES = 4 * L;
    private static final int READERS = Specialization.readers(MethodHandles.lookup());
    private static final int STREAMS = NextBlock.streams(1);
    private static final long STRIDE = NextBlock.stride(READERS) / PER_WORD;

    /** Keeps what is read ahead from being compiled away. */
    @SuppressWarnings("UnusedVariable")
    private int touched;

    private static final int TILE_COLUMNS = RegisterTiles.VECTORS * L;

    LowTiles(int contextLength) {}

    @Override
    public void add(
            int height, MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
        if (height == 2) {
            touched += tile2(w, at, next, x, from, steps, sums, to);
        } else {
            touched += tile1(w, at, next, x, from, steps, sums, to);
        }
    }

    private static FloatVector first(IntVector words) {
        return FORMAT == WeightFormat.BF16
                ? words.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats()
                : words.reinterpretAsFloats();
    }

    private static FloatVector second(IntVector words) {
        return words.and(0xffff0000).reinterpretAsFloats();
    }

    private static int tile2(
            MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
        int touched = 0;
        long apart = steps * STRIDE;
        FloatVector s00 = FloatVector.fromArray(F, sums, to);
        FloatVector s01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s02 = FloatVector.fromArray(F, sums, to + 2 * L);
        FloatVector s10 = FloatVector.fromArray(F, sums, to + COLUMNS);
        FloatVector s11 = FloatVector.fromArray(F, sums, to + COLUMNS + L);
        FloatVector s12 = FloatVector.fromArray(F, sums, to + COLUMNS + 2 * L);
        int whole = steps - steps % PER_WORD;
        for (int k = 0; k < whole; k += PER_WORD) {
            long row = at + k * ROW_STEP;
            if (READERS > 0) {
                touched += NextBlock.read(w, next + k * STRIDE, apart, STREAMS);
            }
            IntVector w0 = IntVector.fromMemorySegment(I, w, row, ORDER);
            IntVector w1 = IntVector.fromMemorySegment(I, w, row + VECTOR_BYTES, ORDER);
            IntVector w2 = IntVector.fromMemorySegment(I, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector x0 = FloatVector.broadcast(F, x[from + 2 * k]);
            FloatVector v0 = first(w0);
            FloatVector v1 = first(w1);
            FloatVector v2 = first(w2);
            s00 = x0.fma(v0, s00);
            s01 = x0.fma(v1, s01);
            s02 = x0.fma(v2, s02);
            FloatVector x1 = FloatVector.broadcast(F, x[from + 2 * k + 1]);
            s10 = x1.fma(v0, s10);
            s11 = x1.fma(v1, s11);
            s12 = x1.fma(v2, s12);
            if (FORMAT == WeightFormat.BF16) {
                FloatVector x2 = FloatVector.broadcast(F, x[from + 2 * k + 2]);
                FloatVector u0 = second(w0);
                FloatVector u1 = second(w1);
                FloatVector u2 = second(w2);
                s00 = x2.fma(u0, s00);
                s01 = x2.fma(u1, s01);
                s02 = x2.fma(u2, s02);
                FloatVector x3 = FloatVector.broadcast(F, x[from + 2 * k + 3]);
                s10 = x3.fma(u0, s10);
                s11 = x3.fma(u1, s11);
                s12 = x3.fma(u2, s12);
            }
        }
        s00.intoArray(sums, to);
        s01.intoArray(sums, to + L);
        s02.intoArray(sums, to + 2 * L);
        s10.intoArray(sums, to + COLUMNS);
        s11.intoArray(sums, to + COLUMNS + L);
        s12.intoArray(sums, to + COLUMNS + 2 * L);
        if (whole < steps) {
            LastWord.add(
                    FORMAT, w, at + whole * ROW_STEP, x, from + 2 * whole, 2, steps - whole, TILE_COLUMNS, sums, to);
        }
        return touched;
    }

    private static int tile1(
            MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
        int touched = 0;
        long apart = steps * STRIDE;
        FloatVector s00 = FloatVector.fromArray(F, sums, to);
        FloatVector s01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s02 = FloatVector.fromArray(F, sums, to + 2 * L);
        int whole = steps - steps % PER_WORD;
        for (int k = 0; k < whole; k += PER_WORD) {
            long row = at + k * ROW_STEP;
            if (READERS > 0) {
                touched += NextBlock.read(w, next + k * STRIDE, apart, STREAMS);
            }
            IntVector w0 = IntVector.fromMemorySegment(I, w, row, ORDER);
            IntVector w1 = IntVector.fromMemorySegment(I, w, row + VECTOR_BYTES, ORDER);
            IntVector w2 = IntVector.fromMemorySegment(I, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector x0 = FloatVector.broadcast(F, x[from + k]);
            FloatVector v0 = first(w0);
            FloatVector v1 = first(w1);
            FloatVector v2 = first(w2);
            s00 = x0.fma(v0, s00);
            s01 = x0.fma(v1, s01);
            s02 = x0.fma(v2, s02);
            if (FORMAT == WeightFormat.BF16) {
                FloatVector x1 = FloatVector.broadcast(F, x[from + k + 1]);
                FloatVector u0 = second(w0);
                FloatVector u1 = second(w1);
                FloatVector u2 = second(w2);
                s00 = x1.fma(u0, s00);
                s01 = x1.fma(u1, s01);
                s02 = x1.fma(u2, s02);
            }
        }
        s00.intoArray(sums, to);
        s01.intoArray(sums, to + L);
        s02.intoArray(sums, to + 2 * L);
        if (whole < steps) {
            LastWord.add(FORMAT, w, at + whole * ROW_STEP, x, from + whole, 1, steps - whole, TILE_COLUMNS, sums, to);
        }
        return touched;
    }
}
