package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import io.roseinfer.backend.cpu.kernel.QuantizedRows;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Tiles of eight rows, and of four, of INT4 weights. A vector is 32-bit words, each a pair of 16-bit lanes that belong to one
 * output: a step takes two inputs of every word, by one multiplication and one addition. What a group of
 * inputs comes to is then scaled and added to the sums in memory, which stay in the first-level cache.
 *
 * <p>A round of the loop is one step, so it shifts by a vector; to write out the four steps of a word shifts by constants, but
 * the compiler then brings loads and products forward until it must spill them: 78 against 125 GFLOP/s of one thread at eight
 * rows (768×2304, Xeon, Emerald Rapids).
 */
final class TallInt4Tiles implements Int4Tiles {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
    private static final VectorSpecies<Integer> I = F.withLanes(int.class);
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int L = F.length();
    private static final int VECTOR_BYTES = 4 * L;
    /** By how many bits a group's words are shifted in its steps. */
    private static final int[] SHIFTS = {0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12};

    /** What the group at hand came to, a pair of 16-bit sums per word. */
    private final int[] pairs = new int[8 * COLUMNS];

    TallInt4Tiles(int contextLength) {}

    @Override
    public void add(int height, MemorySegment w, long at, int[] x, int from, int groups, float[] sums, int to) {
        for (int group = 0; group < groups; group++) {
            int words = from + group * QuantizedRows.GROUP_WORDS * height;
            long row = at + PackedMatrix.int4Weights(group);
            if (height == 8) {
                group8(w, row, x, words, pairs);
            } else {
                group4(w, row, x, words, pairs);
            }
            long scales = at + PackedMatrix.int4Scales(group) - 2L + 2L * (group % 2);
            scale(w, scales, x, words + QuantizedRows.SCALE * height, height, pairs, sums, to);
        }
    }

    /**
     * Adds a group's sums, scaled. The address {@code at} puts the group's scales at the top of their lanes, two bytes before the
     * words begin if the group is the first of two, on a little-endian machine.
     */
    private static void scale(
            MemorySegment w, long at, int[] x, int from, int height, int[] pairs, float[] sums, int to) {
        FloatVector g0 =
                IntVector.fromMemorySegment(I, w, at, ORDER).and(0xffff0000).reinterpretAsFloats();
        FloatVector g1 = IntVector.fromMemorySegment(I, w, at + VECTOR_BYTES, ORDER)
                .and(0xffff0000)
                .reinterpretAsFloats();
        FloatVector g2 = IntVector.fromMemorySegment(I, w, at + 2L * VECTOR_BYTES, ORDER)
                .and(0xffff0000)
                .reinterpretAsFloats();
        for (int r = 0; r < height; r++) {
            int pair = r * COLUMNS;
            int sum = to + r * COLUMNS;
            FloatVector a = IntVector.broadcast(I, x[from + r]).reinterpretAsFloats();
            IntVector v0 = IntVector.fromArray(I, pairs, pair);
            IntVector v1 = IntVector.fromArray(I, pairs, pair + L);
            IntVector v2 = IntVector.fromArray(I, pairs, pair + 2 * L);
            FloatVector f0 = (FloatVector) v0.lanewise(VectorOperators.LSHL, 16)
                    .add(v0)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            f0.fma(a.mul(g0), FloatVector.fromArray(F, sums, sum)).intoArray(sums, sum);
            FloatVector f1 = (FloatVector) v1.lanewise(VectorOperators.LSHL, 16)
                    .add(v1)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            f1.fma(a.mul(g1), FloatVector.fromArray(F, sums, sum + L)).intoArray(sums, sum + L);
            FloatVector f2 = (FloatVector) v2.lanewise(VectorOperators.LSHL, 16)
                    .add(v2)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            f2.fma(a.mul(g2), FloatVector.fromArray(F, sums, sum + 2 * L)).intoArray(sums, sum + 2 * L);
        }
    }

    private static void group8(MemorySegment w, long at, int[] x, int from, int[] v) {
        ShortVector s00 = IntVector.broadcast(I, x[from + 128]).reinterpretAsShorts();
        ShortVector s01 = s00;
        ShortVector s02 = s00;
        ShortVector s10 = IntVector.broadcast(I, x[from + 129]).reinterpretAsShorts();
        ShortVector s11 = s10;
        ShortVector s12 = s10;
        ShortVector s20 = IntVector.broadcast(I, x[from + 130]).reinterpretAsShorts();
        ShortVector s21 = s20;
        ShortVector s22 = s20;
        ShortVector s30 = IntVector.broadcast(I, x[from + 131]).reinterpretAsShorts();
        ShortVector s31 = s30;
        ShortVector s32 = s30;
        ShortVector s40 = IntVector.broadcast(I, x[from + 132]).reinterpretAsShorts();
        ShortVector s41 = s40;
        ShortVector s42 = s40;
        ShortVector s50 = IntVector.broadcast(I, x[from + 133]).reinterpretAsShorts();
        ShortVector s51 = s50;
        ShortVector s52 = s50;
        ShortVector s60 = IntVector.broadcast(I, x[from + 134]).reinterpretAsShorts();
        ShortVector s61 = s60;
        ShortVector s62 = s60;
        ShortVector s70 = IntVector.broadcast(I, x[from + 135]).reinterpretAsShorts();
        ShortVector s71 = s70;
        ShortVector s72 = s70;
        for (int i = 0; i < QuantizedRows.PAIRS; i++) {
            IntVector shift = IntVector.broadcast(I, SHIFTS[i]);
            long row = at + i / 4 * (long) ROW_BYTES;
            ShortVector w0 = IntVector.fromMemorySegment(I, w, row, ORDER)
                    .lanewise(VectorOperators.LSHR, shift)
                    .reinterpretAsShorts();
            ShortVector w1 = IntVector.fromMemorySegment(I, w, row + VECTOR_BYTES, ORDER)
                    .lanewise(VectorOperators.LSHR, shift)
                    .reinterpretAsShorts();
            ShortVector w2 = IntVector.fromMemorySegment(I, w, row + 2L * VECTOR_BYTES, ORDER)
                    .lanewise(VectorOperators.LSHR, shift)
                    .reinterpretAsShorts();
            ShortVector x0 = IntVector.broadcast(I, x[from + 8 * i]).reinterpretAsShorts();
            s00 = x0.mul(w0).add(s00);
            s01 = x0.mul(w1).add(s01);
            s02 = x0.mul(w2).add(s02);
            ShortVector x1 = IntVector.broadcast(I, x[from + 8 * i + 1]).reinterpretAsShorts();
            s10 = x1.mul(w0).add(s10);
            s11 = x1.mul(w1).add(s11);
            s12 = x1.mul(w2).add(s12);
            ShortVector x2 = IntVector.broadcast(I, x[from + 8 * i + 2]).reinterpretAsShorts();
            s20 = x2.mul(w0).add(s20);
            s21 = x2.mul(w1).add(s21);
            s22 = x2.mul(w2).add(s22);
            ShortVector x3 = IntVector.broadcast(I, x[from + 8 * i + 3]).reinterpretAsShorts();
            s30 = x3.mul(w0).add(s30);
            s31 = x3.mul(w1).add(s31);
            s32 = x3.mul(w2).add(s32);
            ShortVector x4 = IntVector.broadcast(I, x[from + 8 * i + 4]).reinterpretAsShorts();
            s40 = x4.mul(w0).add(s40);
            s41 = x4.mul(w1).add(s41);
            s42 = x4.mul(w2).add(s42);
            ShortVector x5 = IntVector.broadcast(I, x[from + 8 * i + 5]).reinterpretAsShorts();
            s50 = x5.mul(w0).add(s50);
            s51 = x5.mul(w1).add(s51);
            s52 = x5.mul(w2).add(s52);
            ShortVector x6 = IntVector.broadcast(I, x[from + 8 * i + 6]).reinterpretAsShorts();
            s60 = x6.mul(w0).add(s60);
            s61 = x6.mul(w1).add(s61);
            s62 = x6.mul(w2).add(s62);
            ShortVector x7 = IntVector.broadcast(I, x[from + 8 * i + 7]).reinterpretAsShorts();
            s70 = x7.mul(w0).add(s70);
            s71 = x7.mul(w1).add(s71);
            s72 = x7.mul(w2).add(s72);
        }
        s00.reinterpretAsInts().intoArray(v, 0);
        s01.reinterpretAsInts().intoArray(v, L);
        s02.reinterpretAsInts().intoArray(v, 2 * L);
        s10.reinterpretAsInts().intoArray(v, COLUMNS);
        s11.reinterpretAsInts().intoArray(v, COLUMNS + L);
        s12.reinterpretAsInts().intoArray(v, COLUMNS + 2 * L);
        s20.reinterpretAsInts().intoArray(v, 2 * COLUMNS);
        s21.reinterpretAsInts().intoArray(v, 2 * COLUMNS + L);
        s22.reinterpretAsInts().intoArray(v, 2 * COLUMNS + 2 * L);
        s30.reinterpretAsInts().intoArray(v, 3 * COLUMNS);
        s31.reinterpretAsInts().intoArray(v, 3 * COLUMNS + L);
        s32.reinterpretAsInts().intoArray(v, 3 * COLUMNS + 2 * L);
        s40.reinterpretAsInts().intoArray(v, 4 * COLUMNS);
        s41.reinterpretAsInts().intoArray(v, 4 * COLUMNS + L);
        s42.reinterpretAsInts().intoArray(v, 4 * COLUMNS + 2 * L);
        s50.reinterpretAsInts().intoArray(v, 5 * COLUMNS);
        s51.reinterpretAsInts().intoArray(v, 5 * COLUMNS + L);
        s52.reinterpretAsInts().intoArray(v, 5 * COLUMNS + 2 * L);
        s60.reinterpretAsInts().intoArray(v, 6 * COLUMNS);
        s61.reinterpretAsInts().intoArray(v, 6 * COLUMNS + L);
        s62.reinterpretAsInts().intoArray(v, 6 * COLUMNS + 2 * L);
        s70.reinterpretAsInts().intoArray(v, 7 * COLUMNS);
        s71.reinterpretAsInts().intoArray(v, 7 * COLUMNS + L);
        s72.reinterpretAsInts().intoArray(v, 7 * COLUMNS + 2 * L);
    }

    private static void group4(MemorySegment w, long at, int[] x, int from, int[] v) {
        ShortVector s00 = IntVector.broadcast(I, x[from + 64]).reinterpretAsShorts();
        ShortVector s01 = s00;
        ShortVector s02 = s00;
        ShortVector s10 = IntVector.broadcast(I, x[from + 65]).reinterpretAsShorts();
        ShortVector s11 = s10;
        ShortVector s12 = s10;
        ShortVector s20 = IntVector.broadcast(I, x[from + 66]).reinterpretAsShorts();
        ShortVector s21 = s20;
        ShortVector s22 = s20;
        ShortVector s30 = IntVector.broadcast(I, x[from + 67]).reinterpretAsShorts();
        ShortVector s31 = s30;
        ShortVector s32 = s30;
        for (int i = 0; i < QuantizedRows.PAIRS; i++) {
            IntVector shift = IntVector.broadcast(I, SHIFTS[i]);
            long row = at + i / 4 * (long) ROW_BYTES;
            ShortVector w0 = IntVector.fromMemorySegment(I, w, row, ORDER)
                    .lanewise(VectorOperators.LSHR, shift)
                    .reinterpretAsShorts();
            ShortVector w1 = IntVector.fromMemorySegment(I, w, row + VECTOR_BYTES, ORDER)
                    .lanewise(VectorOperators.LSHR, shift)
                    .reinterpretAsShorts();
            ShortVector w2 = IntVector.fromMemorySegment(I, w, row + 2L * VECTOR_BYTES, ORDER)
                    .lanewise(VectorOperators.LSHR, shift)
                    .reinterpretAsShorts();
            ShortVector x0 = IntVector.broadcast(I, x[from + 4 * i]).reinterpretAsShorts();
            s00 = x0.mul(w0).add(s00);
            s01 = x0.mul(w1).add(s01);
            s02 = x0.mul(w2).add(s02);
            ShortVector x1 = IntVector.broadcast(I, x[from + 4 * i + 1]).reinterpretAsShorts();
            s10 = x1.mul(w0).add(s10);
            s11 = x1.mul(w1).add(s11);
            s12 = x1.mul(w2).add(s12);
            ShortVector x2 = IntVector.broadcast(I, x[from + 4 * i + 2]).reinterpretAsShorts();
            s20 = x2.mul(w0).add(s20);
            s21 = x2.mul(w1).add(s21);
            s22 = x2.mul(w2).add(s22);
            ShortVector x3 = IntVector.broadcast(I, x[from + 4 * i + 3]).reinterpretAsShorts();
            s30 = x3.mul(w0).add(s30);
            s31 = x3.mul(w1).add(s31);
            s32 = x3.mul(w2).add(s32);
        }
        s00.reinterpretAsInts().intoArray(v, 0);
        s01.reinterpretAsInts().intoArray(v, L);
        s02.reinterpretAsInts().intoArray(v, 2 * L);
        s10.reinterpretAsInts().intoArray(v, COLUMNS);
        s11.reinterpretAsInts().intoArray(v, COLUMNS + L);
        s12.reinterpretAsInts().intoArray(v, COLUMNS + 2 * L);
        s20.reinterpretAsInts().intoArray(v, 2 * COLUMNS);
        s21.reinterpretAsInts().intoArray(v, 2 * COLUMNS + L);
        s22.reinterpretAsInts().intoArray(v, 2 * COLUMNS + 2 * L);
        s30.reinterpretAsInts().intoArray(v, 3 * COLUMNS);
        s31.reinterpretAsInts().intoArray(v, 3 * COLUMNS + L);
        s32.reinterpretAsInts().intoArray(v, 3 * COLUMNS + 2 * L);
    }
}
