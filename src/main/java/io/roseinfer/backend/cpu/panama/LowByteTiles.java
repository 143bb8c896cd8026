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
 * Tiles of two rows, and of one, of INT8 weights. Under so few rows the work is in making floats of bytes. A byte, its sign
 * flipped, becomes part of a float's mantissa where its last bit is worth {@link WeightFormat#INT8_UNIT}: one ternary bit
 * operation. The float then exceeds the weight by a constant, and to subtract that is exact. The lower two bytes of a word need
 * no shift for this, and one shift serves both upper ones.
 *
 * <p>Beside a shift, a mask and a conversion per byte (2 threads, GPT-2's matrices, one row and two): 1.3 times as fast.
 *
 * <p>The loops are written out, without small methods: the compiler stops inlining those in a method this long, and then
 * allocates every vector.
 */
final class LowByteTiles implements RegisterTiles {
    private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
    private static final VectorSpecies<Integer> I = F.withLanes(int.class);
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int L = F.length();
    private static final int VECTOR_BYTES = 4 * L;
    private static final int READERS = Specialization.readers(MethodHandles.lookup());
    private static final int STREAMS = NextBlock.streams(1);
    private static final long STRIDE = NextBlock.stride(READERS);

    /** Keeps what is read ahead from being compiled away. */
    @SuppressWarnings("UnusedVariable")
    private int touched;

    private static final int TILE_COLUMNS = RegisterTiles.VECTORS * L;
    private static final int PER_WORD = WeightFormat.INT8.perWord();
    /** Zero where a mantissa's last bit is worth one unit, and 128 units. */
    private static final float EVEN_BIAS = ((1 << 23) + 128) * WeightFormat.INT8_UNIT;
    /** Zero where a mantissa's ninth bit from the end is worth one unit, and 128 units. */
    private static final float ODD_BIAS = ((1 << 15) + 128) * WeightFormat.INT8_UNIT;

    LowByteTiles(int contextLength) {}

    @Override
    public void add(
            int height, MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
        if (height == 2) {
            touched += tile2(w, at, next, x, from, steps, sums, to);
        } else {
            touched += tile1(w, at, next, x, from, steps, sums, to);
        }
    }

    private static int tile2(
            MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
        IntVector even = IntVector.broadcast(I, 0xff);
        IntVector odd = IntVector.broadcast(I, 0xff00);
        FloatVector evenBias = FloatVector.broadcast(F, EVEN_BIAS);
        FloatVector oddBias = FloatVector.broadcast(F, ODD_BIAS);
        IntVector evenBits = evenBias.reinterpretAsInts();
        IntVector oddBits = oddBias.reinterpretAsInts();
        int touched = 0;
        long apart = steps / PER_WORD * STRIDE;
        FloatVector s00 = FloatVector.fromArray(F, sums, to);
        FloatVector s01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s02 = FloatVector.fromArray(F, sums, to + 2 * L);
        FloatVector s10 = FloatVector.fromArray(F, sums, to + COLUMNS);
        FloatVector s11 = FloatVector.fromArray(F, sums, to + COLUMNS + L);
        FloatVector s12 = FloatVector.fromArray(F, sums, to + COLUMNS + 2 * L);
        int words = steps / PER_WORD;
        for (int i = 0; i < words; i++) {
            long row = at + i * (long) ROW_BYTES;
            if (READERS > 0) {
                touched += NextBlock.read(w, next + i * STRIDE, apart, STREAMS);
            }
            IntVector a0 = IntVector.fromMemorySegment(I, w, row, ORDER);
            IntVector a1 = IntVector.fromMemorySegment(I, w, row + VECTOR_BYTES, ORDER);
            IntVector a2 = IntVector.fromMemorySegment(I, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector x0 = FloatVector.broadcast(F, x[from + 8 * i]);
            FloatVector w00 = a0.and(even)
                    .lanewise(VectorOperators.XOR, evenBits)
                    .reinterpretAsFloats()
                    .sub(evenBias);
            FloatVector w01 = a1.and(even)
                    .lanewise(VectorOperators.XOR, evenBits)
                    .reinterpretAsFloats()
                    .sub(evenBias);
            FloatVector w02 = a2.and(even)
                    .lanewise(VectorOperators.XOR, evenBits)
                    .reinterpretAsFloats()
                    .sub(evenBias);
            s00 = x0.fma(w00, s00);
            s01 = x0.fma(w01, s01);
            s02 = x0.fma(w02, s02);
            FloatVector x1 = FloatVector.broadcast(F, x[from + 8 * i + 1]);
            s10 = x1.fma(w00, s10);
            s11 = x1.fma(w01, s11);
            s12 = x1.fma(w02, s12);
            FloatVector x2 = FloatVector.broadcast(F, x[from + 8 * i + 2]);
            FloatVector w10 = a0.and(odd)
                    .lanewise(VectorOperators.XOR, oddBits)
                    .reinterpretAsFloats()
                    .sub(oddBias);
            FloatVector w11 = a1.and(odd)
                    .lanewise(VectorOperators.XOR, oddBits)
                    .reinterpretAsFloats()
                    .sub(oddBias);
            FloatVector w12 = a2.and(odd)
                    .lanewise(VectorOperators.XOR, oddBits)
                    .reinterpretAsFloats()
                    .sub(oddBias);
            s00 = x2.fma(w10, s00);
            s01 = x2.fma(w11, s01);
            s02 = x2.fma(w12, s02);
            FloatVector x3 = FloatVector.broadcast(F, x[from + 8 * i + 3]);
            s10 = x3.fma(w10, s10);
            s11 = x3.fma(w11, s11);
            s12 = x3.fma(w12, s12);
            IntVector b0 = a0.lanewise(VectorOperators.LSHR, 16);
            IntVector b1 = a1.lanewise(VectorOperators.LSHR, 16);
            IntVector b2 = a2.lanewise(VectorOperators.LSHR, 16);
            FloatVector x4 = FloatVector.broadcast(F, x[from + 8 * i + 4]);
            FloatVector w20 = b0.and(even)
                    .lanewise(VectorOperators.XOR, evenBits)
                    .reinterpretAsFloats()
                    .sub(evenBias);
            FloatVector w21 = b1.and(even)
                    .lanewise(VectorOperators.XOR, evenBits)
                    .reinterpretAsFloats()
                    .sub(evenBias);
            FloatVector w22 = b2.and(even)
                    .lanewise(VectorOperators.XOR, evenBits)
                    .reinterpretAsFloats()
                    .sub(evenBias);
            s00 = x4.fma(w20, s00);
            s01 = x4.fma(w21, s01);
            s02 = x4.fma(w22, s02);
            FloatVector x5 = FloatVector.broadcast(F, x[from + 8 * i + 5]);
            s10 = x5.fma(w20, s10);
            s11 = x5.fma(w21, s11);
            s12 = x5.fma(w22, s12);
            FloatVector x6 = FloatVector.broadcast(F, x[from + 8 * i + 6]);
            FloatVector w30 = b0.and(odd)
                    .lanewise(VectorOperators.XOR, oddBits)
                    .reinterpretAsFloats()
                    .sub(oddBias);
            FloatVector w31 = b1.and(odd)
                    .lanewise(VectorOperators.XOR, oddBits)
                    .reinterpretAsFloats()
                    .sub(oddBias);
            FloatVector w32 = b2.and(odd)
                    .lanewise(VectorOperators.XOR, oddBits)
                    .reinterpretAsFloats()
                    .sub(oddBias);
            s00 = x6.fma(w30, s00);
            s01 = x6.fma(w31, s01);
            s02 = x6.fma(w32, s02);
            FloatVector x7 = FloatVector.broadcast(F, x[from + 8 * i + 7]);
            s10 = x7.fma(w30, s10);
            s11 = x7.fma(w31, s11);
            s12 = x7.fma(w32, s12);
        }
        s00.intoArray(sums, to);
        s01.intoArray(sums, to + L);
        s02.intoArray(sums, to + 2 * L);
        s10.intoArray(sums, to + COLUMNS);
        s11.intoArray(sums, to + COLUMNS + L);
        s12.intoArray(sums, to + COLUMNS + 2 * L);
        int done = words * PER_WORD;
        if (done < steps) {
            LastWord.add(
                    WeightFormat.INT8,
                    w,
                    at + words * (long) ROW_BYTES,
                    x,
                    from + 2 * done,
                    2,
                    steps - done,
                    TILE_COLUMNS,
                    sums,
                    to);
        }
        return touched;
    }

    private static int tile1(
            MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
        IntVector even = IntVector.broadcast(I, 0xff);
        IntVector odd = IntVector.broadcast(I, 0xff00);
        FloatVector evenBias = FloatVector.broadcast(F, EVEN_BIAS);
        FloatVector oddBias = FloatVector.broadcast(F, ODD_BIAS);
        IntVector evenBits = evenBias.reinterpretAsInts();
        IntVector oddBits = oddBias.reinterpretAsInts();
        int touched = 0;
        long apart = steps / PER_WORD * STRIDE;
        FloatVector s00 = FloatVector.fromArray(F, sums, to);
        FloatVector s01 = FloatVector.fromArray(F, sums, to + L);
        FloatVector s02 = FloatVector.fromArray(F, sums, to + 2 * L);
        int words = steps / PER_WORD;
        for (int i = 0; i < words; i++) {
            long row = at + i * (long) ROW_BYTES;
            if (READERS > 0) {
                touched += NextBlock.read(w, next + i * STRIDE, apart, STREAMS);
            }
            IntVector a0 = IntVector.fromMemorySegment(I, w, row, ORDER);
            IntVector a1 = IntVector.fromMemorySegment(I, w, row + VECTOR_BYTES, ORDER);
            IntVector a2 = IntVector.fromMemorySegment(I, w, row + 2L * VECTOR_BYTES, ORDER);
            FloatVector x0 = FloatVector.broadcast(F, x[from + 4 * i]);
            s00 = x0.fma(
                    a0.and(even)
                            .lanewise(VectorOperators.XOR, evenBits)
                            .reinterpretAsFloats()
                            .sub(evenBias),
                    s00);
            s01 = x0.fma(
                    a1.and(even)
                            .lanewise(VectorOperators.XOR, evenBits)
                            .reinterpretAsFloats()
                            .sub(evenBias),
                    s01);
            s02 = x0.fma(
                    a2.and(even)
                            .lanewise(VectorOperators.XOR, evenBits)
                            .reinterpretAsFloats()
                            .sub(evenBias),
                    s02);
            FloatVector x1 = FloatVector.broadcast(F, x[from + 4 * i + 1]);
            s00 = x1.fma(
                    a0.and(odd)
                            .lanewise(VectorOperators.XOR, oddBits)
                            .reinterpretAsFloats()
                            .sub(oddBias),
                    s00);
            s01 = x1.fma(
                    a1.and(odd)
                            .lanewise(VectorOperators.XOR, oddBits)
                            .reinterpretAsFloats()
                            .sub(oddBias),
                    s01);
            s02 = x1.fma(
                    a2.and(odd)
                            .lanewise(VectorOperators.XOR, oddBits)
                            .reinterpretAsFloats()
                            .sub(oddBias),
                    s02);
            IntVector b0 = a0.lanewise(VectorOperators.LSHR, 16);
            IntVector b1 = a1.lanewise(VectorOperators.LSHR, 16);
            IntVector b2 = a2.lanewise(VectorOperators.LSHR, 16);
            FloatVector x2 = FloatVector.broadcast(F, x[from + 4 * i + 2]);
            s00 = x2.fma(
                    b0.and(even)
                            .lanewise(VectorOperators.XOR, evenBits)
                            .reinterpretAsFloats()
                            .sub(evenBias),
                    s00);
            s01 = x2.fma(
                    b1.and(even)
                            .lanewise(VectorOperators.XOR, evenBits)
                            .reinterpretAsFloats()
                            .sub(evenBias),
                    s01);
            s02 = x2.fma(
                    b2.and(even)
                            .lanewise(VectorOperators.XOR, evenBits)
                            .reinterpretAsFloats()
                            .sub(evenBias),
                    s02);
            FloatVector x3 = FloatVector.broadcast(F, x[from + 4 * i + 3]);
            s00 = x3.fma(
                    b0.and(odd)
                            .lanewise(VectorOperators.XOR, oddBits)
                            .reinterpretAsFloats()
                            .sub(oddBias),
                    s00);
            s01 = x3.fma(
                    b1.and(odd)
                            .lanewise(VectorOperators.XOR, oddBits)
                            .reinterpretAsFloats()
                            .sub(oddBias),
                    s01);
            s02 = x3.fma(
                    b2.and(odd)
                            .lanewise(VectorOperators.XOR, oddBits)
                            .reinterpretAsFloats()
                            .sub(oddBias),
                    s02);
        }
        s00.intoArray(sums, to);
        s01.intoArray(sums, to + L);
        s02.intoArray(sums, to + 2 * L);
        int done = words * PER_WORD;
        if (done < steps) {
            LastWord.add(
                    WeightFormat.INT8,
                    w,
                    at + words * (long) ROW_BYTES,
                    x,
                    from + done,
                    1,
                    steps - done,
                    TILE_COLUMNS,
                    sums,
                    to);
        }
        return touched;
    }
}
