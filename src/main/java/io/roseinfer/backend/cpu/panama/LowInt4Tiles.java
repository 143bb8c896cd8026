package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import io.roseinfer.backend.cpu.kernel.PackedMatrix;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Tiles of two rows, and of one, of INT4 weights; see {@link TallInt4Tiles}. Under so few rows there are registers for the four
 * steps of a word and for the scaled sums.
 *
 * <p>What a group comes to begins at zero, and its offset is added last, as the receiver: the sums come round a loop, and of those
 * the compiler may not know the class.
 */
final class LowInt4Tiles implements Int4Tiles {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
    private static final VectorSpecies<Integer> I = F.withLanes(int.class);
    private static final VectorSpecies<Short> S = F.withLanes(short.class);
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int L = F.length();
    private static final int VECTOR_BYTES = 4 * L;

    LowInt4Tiles(int contextLength) {}

    @Override
    public void add(int height, MemorySegment w, long at, int[] x, int from, int groups, float[] sums, int to) {
        if (height == 2) {
            tile2(w, at, x, from, groups, sums, to);
        } else {
            tile1(w, at, x, from, groups, sums, to);
        }
    }

    private static void tile2(MemorySegment w, long at, int[] x, int from, int groups, float[] sums, int to) {
        FloatVector t00 = FloatVector.fromArray(F, sums, to);
        FloatVector t01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector t02 = FloatVector.fromArray(F, sums, to + 2 * L);
        FloatVector t10 = FloatVector.fromArray(F, sums, to + COLUMNS);
        FloatVector t11 = FloatVector.fromArray(F, sums, to + COLUMNS + L);
        FloatVector t12 = FloatVector.fromArray(F, sums, to + COLUMNS + 2 * L);
        for (int group = 0; group < groups; group++) {
            int words = from + group * 36;
            long row = at + PackedMatrix.int4Weights(group);
            ShortVector s00 = ShortVector.zero(S);
            ShortVector s01 = ShortVector.zero(S);
            ShortVector s02 = ShortVector.zero(S);
            ShortVector s10 = ShortVector.zero(S);
            ShortVector s11 = ShortVector.zero(S);
            ShortVector s12 = ShortVector.zero(S);
            for (int i = 0; i < 4; i++) {
                int pair = words + 8 * i;
                long word = row + i * (long) ROW_BYTES;
                IntVector w0 = IntVector.fromMemorySegment(I, w, word, ORDER);
                IntVector w1 = IntVector.fromMemorySegment(I, w, word + VECTOR_BYTES, ORDER);
                IntVector w2 = IntVector.fromMemorySegment(I, w, word + 2L * VECTOR_BYTES, ORDER);
                ShortVector u00 = w0.reinterpretAsShorts();
                ShortVector u01 = w1.reinterpretAsShorts();
                ShortVector u02 = w2.reinterpretAsShorts();
                ShortVector x00 = IntVector.broadcast(I, x[pair]).reinterpretAsShorts();
                s00 = x00.mul(u00).add(s00);
                s01 = x00.mul(u01).add(s01);
                s02 = x00.mul(u02).add(s02);
                ShortVector x01 = IntVector.broadcast(I, x[pair + 1]).reinterpretAsShorts();
                s10 = x01.mul(u00).add(s10);
                s11 = x01.mul(u01).add(s11);
                s12 = x01.mul(u02).add(s12);
                ShortVector u10 = w0.lanewise(VectorOperators.LSHR, 4).reinterpretAsShorts();
                ShortVector u11 = w1.lanewise(VectorOperators.LSHR, 4).reinterpretAsShorts();
                ShortVector u12 = w2.lanewise(VectorOperators.LSHR, 4).reinterpretAsShorts();
                ShortVector x10 = IntVector.broadcast(I, x[pair + 2]).reinterpretAsShorts();
                s00 = x10.mul(u10).add(s00);
                s01 = x10.mul(u11).add(s01);
                s02 = x10.mul(u12).add(s02);
                ShortVector x11 = IntVector.broadcast(I, x[pair + 3]).reinterpretAsShorts();
                s10 = x11.mul(u10).add(s10);
                s11 = x11.mul(u11).add(s11);
                s12 = x11.mul(u12).add(s12);
                ShortVector u20 = w0.lanewise(VectorOperators.LSHR, 8).reinterpretAsShorts();
                ShortVector u21 = w1.lanewise(VectorOperators.LSHR, 8).reinterpretAsShorts();
                ShortVector u22 = w2.lanewise(VectorOperators.LSHR, 8).reinterpretAsShorts();
                ShortVector x20 = IntVector.broadcast(I, x[pair + 4]).reinterpretAsShorts();
                s00 = x20.mul(u20).add(s00);
                s01 = x20.mul(u21).add(s01);
                s02 = x20.mul(u22).add(s02);
                ShortVector x21 = IntVector.broadcast(I, x[pair + 5]).reinterpretAsShorts();
                s10 = x21.mul(u20).add(s10);
                s11 = x21.mul(u21).add(s11);
                s12 = x21.mul(u22).add(s12);
                ShortVector u30 = w0.lanewise(VectorOperators.LSHR, 12).reinterpretAsShorts();
                ShortVector u31 = w1.lanewise(VectorOperators.LSHR, 12).reinterpretAsShorts();
                ShortVector u32 = w2.lanewise(VectorOperators.LSHR, 12).reinterpretAsShorts();
                ShortVector x30 = IntVector.broadcast(I, x[pair + 6]).reinterpretAsShorts();
                s00 = x30.mul(u30).add(s00);
                s01 = x30.mul(u31).add(s01);
                s02 = x30.mul(u32).add(s02);
                ShortVector x31 = IntVector.broadcast(I, x[pair + 7]).reinterpretAsShorts();
                s10 = x31.mul(u30).add(s10);
                s11 = x31.mul(u31).add(s11);
                s12 = x31.mul(u32).add(s12);
            }
            long scales = at + PackedMatrix.int4Scales(group) - 2L + 2L * (group % 2);
            FloatVector g0 = IntVector.fromMemorySegment(I, w, scales, ORDER)
                    .and(0xffff0000)
                    .reinterpretAsFloats();
            FloatVector g1 = IntVector.fromMemorySegment(I, w, scales + VECTOR_BYTES, ORDER)
                    .and(0xffff0000)
                    .reinterpretAsFloats();
            FloatVector g2 = IntVector.fromMemorySegment(I, w, scales + 2L * VECTOR_BYTES, ORDER)
                    .and(0xffff0000)
                    .reinterpretAsFloats();
            ShortVector b0 = IntVector.broadcast(I, x[words + 32]).reinterpretAsShorts();
            FloatVector a0 = IntVector.broadcast(I, x[words + 34]).reinterpretAsFloats();
            IntVector v00 = b0.add(s00).reinterpretAsInts();
            FloatVector f00 = (FloatVector) v00.lanewise(VectorOperators.LSHL, 16)
                    .add(v00)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t00 = f00.fma(a0.mul(g0), t00);
            IntVector v01 = b0.add(s01).reinterpretAsInts();
            FloatVector f01 = (FloatVector) v01.lanewise(VectorOperators.LSHL, 16)
                    .add(v01)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t01 = f01.fma(a0.mul(g1), t01);
            IntVector v02 = b0.add(s02).reinterpretAsInts();
            FloatVector f02 = (FloatVector) v02.lanewise(VectorOperators.LSHL, 16)
                    .add(v02)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t02 = f02.fma(a0.mul(g2), t02);
            ShortVector b1 = IntVector.broadcast(I, x[words + 33]).reinterpretAsShorts();
            FloatVector a1 = IntVector.broadcast(I, x[words + 35]).reinterpretAsFloats();
            IntVector v10 = b1.add(s10).reinterpretAsInts();
            FloatVector f10 = (FloatVector) v10.lanewise(VectorOperators.LSHL, 16)
                    .add(v10)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t10 = f10.fma(a1.mul(g0), t10);
            IntVector v11 = b1.add(s11).reinterpretAsInts();
            FloatVector f11 = (FloatVector) v11.lanewise(VectorOperators.LSHL, 16)
                    .add(v11)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t11 = f11.fma(a1.mul(g1), t11);
            IntVector v12 = b1.add(s12).reinterpretAsInts();
            FloatVector f12 = (FloatVector) v12.lanewise(VectorOperators.LSHL, 16)
                    .add(v12)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t12 = f12.fma(a1.mul(g2), t12);
        }
        t00.intoArray(sums, to);
        t01.intoArray(sums, to + L);
        t02.intoArray(sums, to + 2 * L);
        t10.intoArray(sums, to + COLUMNS);
        t11.intoArray(sums, to + COLUMNS + L);
        t12.intoArray(sums, to + COLUMNS + 2 * L);
    }

    private static void tile1(MemorySegment w, long at, int[] x, int from, int groups, float[] sums, int to) {
        FloatVector t00 = FloatVector.fromArray(F, sums, to);
        FloatVector t01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector t02 = FloatVector.fromArray(F, sums, to + 2 * L);
        for (int group = 0; group < groups; group++) {
            int words = from + group * 18;
            long row = at + PackedMatrix.int4Weights(group);
            ShortVector s00 = ShortVector.zero(S);
            ShortVector s01 = ShortVector.zero(S);
            ShortVector s02 = ShortVector.zero(S);
            for (int i = 0; i < 4; i++) {
                int pair = words + 4 * i;
                long word = row + i * (long) ROW_BYTES;
                IntVector w0 = IntVector.fromMemorySegment(I, w, word, ORDER);
                IntVector w1 = IntVector.fromMemorySegment(I, w, word + VECTOR_BYTES, ORDER);
                IntVector w2 = IntVector.fromMemorySegment(I, w, word + 2L * VECTOR_BYTES, ORDER);
                ShortVector u00 = w0.reinterpretAsShorts();
                ShortVector u01 = w1.reinterpretAsShorts();
                ShortVector u02 = w2.reinterpretAsShorts();
                ShortVector x00 = IntVector.broadcast(I, x[pair]).reinterpretAsShorts();
                s00 = x00.mul(u00).add(s00);
                s01 = x00.mul(u01).add(s01);
                s02 = x00.mul(u02).add(s02);
                ShortVector u10 = w0.lanewise(VectorOperators.LSHR, 4).reinterpretAsShorts();
                ShortVector u11 = w1.lanewise(VectorOperators.LSHR, 4).reinterpretAsShorts();
                ShortVector u12 = w2.lanewise(VectorOperators.LSHR, 4).reinterpretAsShorts();
                ShortVector x10 = IntVector.broadcast(I, x[pair + 1]).reinterpretAsShorts();
                s00 = x10.mul(u10).add(s00);
                s01 = x10.mul(u11).add(s01);
                s02 = x10.mul(u12).add(s02);
                ShortVector u20 = w0.lanewise(VectorOperators.LSHR, 8).reinterpretAsShorts();
                ShortVector u21 = w1.lanewise(VectorOperators.LSHR, 8).reinterpretAsShorts();
                ShortVector u22 = w2.lanewise(VectorOperators.LSHR, 8).reinterpretAsShorts();
                ShortVector x20 = IntVector.broadcast(I, x[pair + 2]).reinterpretAsShorts();
                s00 = x20.mul(u20).add(s00);
                s01 = x20.mul(u21).add(s01);
                s02 = x20.mul(u22).add(s02);
                ShortVector u30 = w0.lanewise(VectorOperators.LSHR, 12).reinterpretAsShorts();
                ShortVector u31 = w1.lanewise(VectorOperators.LSHR, 12).reinterpretAsShorts();
                ShortVector u32 = w2.lanewise(VectorOperators.LSHR, 12).reinterpretAsShorts();
                ShortVector x30 = IntVector.broadcast(I, x[pair + 3]).reinterpretAsShorts();
                s00 = x30.mul(u30).add(s00);
                s01 = x30.mul(u31).add(s01);
                s02 = x30.mul(u32).add(s02);
            }
            long scales = at + PackedMatrix.int4Scales(group) - 2L + 2L * (group % 2);
            FloatVector g0 = IntVector.fromMemorySegment(I, w, scales, ORDER)
                    .and(0xffff0000)
                    .reinterpretAsFloats();
            FloatVector g1 = IntVector.fromMemorySegment(I, w, scales + VECTOR_BYTES, ORDER)
                    .and(0xffff0000)
                    .reinterpretAsFloats();
            FloatVector g2 = IntVector.fromMemorySegment(I, w, scales + 2L * VECTOR_BYTES, ORDER)
                    .and(0xffff0000)
                    .reinterpretAsFloats();
            ShortVector b0 = IntVector.broadcast(I, x[words + 16]).reinterpretAsShorts();
            FloatVector a0 = IntVector.broadcast(I, x[words + 17]).reinterpretAsFloats();
            IntVector v00 = b0.add(s00).reinterpretAsInts();
            FloatVector f00 = (FloatVector) v00.lanewise(VectorOperators.LSHL, 16)
                    .add(v00)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t00 = f00.fma(a0.mul(g0), t00);
            IntVector v01 = b0.add(s01).reinterpretAsInts();
            FloatVector f01 = (FloatVector) v01.lanewise(VectorOperators.LSHL, 16)
                    .add(v01)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t01 = f01.fma(a0.mul(g1), t01);
            IntVector v02 = b0.add(s02).reinterpretAsInts();
            FloatVector f02 = (FloatVector) v02.lanewise(VectorOperators.LSHL, 16)
                    .add(v02)
                    .lanewise(VectorOperators.ASHR, 16)
                    .convert(VectorOperators.I2F, 0);
            t02 = f02.fma(a0.mul(g2), t02);
        }
        t00.intoArray(sums, to);
        t01.intoArray(sums, to + L);
        t02.intoArray(sums, to + 2 * L);
    }
}
