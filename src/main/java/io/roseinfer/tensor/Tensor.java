package io.roseinfer.tensor;

import io.roseinfer.base.Check;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A typed, shaped, read-only view of memory that it does not own: row-major, little-endian, dense, at any alignment (safetensors
 * guarantees none).
 */
public final class Tensor {
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** Float bit masks: infinity, magnitude, and the quiet-NaN bit. */
    private static final int INFINITY = 0x7f800000;

    private static final int MAGNITUDE = 0x7fffffff;
    private static final int QUIET = 0x400000;

    private final DType dtype;
    private final long[] shape;
    private final long elements;
    private final MemorySegment data;

    /**
     * Views {@code data} as a tensor.
     *
     * @param shape the dimensions, outermost first; empty for a scalar
     * @param data exactly as many bytes as type and shape need
     */
    public Tensor(DType dtype, long[] shape, MemorySegment data) {
        this.dtype = dtype;
        this.shape = shape.clone();
        this.elements = elementCount(shape);
        this.data = data;
        Check.that(
                data.byteSize() == dtype.bytes(elements),
                "tensor data of %d bytes, %d needed",
                data.byteSize(),
                dtype.bytes(elements));
    }

    public DType dtype() {
        return dtype;
    }

    /** Returns a copy of the dimensions, outermost first. */
    public long[] shape() {
        return shape.clone();
    }

    public int rank() {
        return shape.length;
    }

    public long dimension(int axis) {
        return shape[axis];
    }

    public long elements() {
        return elements;
    }

    public MemorySegment data() {
        return data;
    }

    /** Returns the element at a row-major index as a float; exact for F32, F16 and BF16, an error for other types. */
    public float get(long index) {
        return switch (dtype) {
            case F32 -> data.get(FLOAT, 4 * index);
            case F16 -> Float.float16ToFloat(data.get(SHORT, 2 * index));
            case BF16 -> bf16ToFloat(data.get(SHORT, 2 * index));
            default -> throw notAFloat();
        };
    }

    /** Copies {@code count} elements from row-major index {@code from} to {@code target[targetFrom…]}, widened to float. */
    public void copyTo(long from, float[] target, int targetFrom, int count) {
        copyTo(from, target, targetFrom, count, new short[dtype == DType.F32 ? 0 : count]);
    }

    /**
     * Copies through {@code bits}, a buffer of at least {@code count}, for bulk reads: interpreted code reads arrays many times faster than
     * memory segments.
     */
    public void copyTo(long from, float[] target, int targetFrom, int count, short[] bits) {
        switch (dtype) {
            case F32 -> MemorySegment.copy(data, FLOAT, 4 * from, target, targetFrom, count);
            case F16 -> {
                MemorySegment.copy(data, SHORT, 2 * from, bits, 0, count);
                for (int i = 0; i < count; i++) {
                    target[targetFrom + i] = Float.float16ToFloat(bits[i]);
                }
            }
            case BF16 -> {
                MemorySegment.copy(data, SHORT, 2 * from, bits, 0, count);
                for (int i = 0; i < count; i++) {
                    target[targetFrom + i] = bf16ToFloat(bits[i]);
                }
            }
            default -> throw notAFloat();
        }
    }

    private UnsupportedOperationException notAFloat() {
        return new UnsupportedOperationException("elements of type " + dtype + " cannot be read as floats");
    }

    /** Widens a bfloat16 bit pattern; exact. */
    public static float bf16ToFloat(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** Narrows to bfloat16, to nearest with ties to even; NaN stays NaN. */
    public static short floatToBf16(float value) {
        int bits = Float.floatToRawIntBits(value);
        int rounded = bits + 0x7fff + ((bits >>> 16) & 1);
        // All ones for a NaN, without a branch, which would prevent vectorization.
        int nan = (INFINITY - (bits & MAGNITUDE)) >> 31;
        return (short) (((rounded & ~nan) | ((bits | QUIET) & nan)) >>> 16);
    }

    /** Returns the product of the dimensions; zero if any is zero. */
    public static long elementCount(long[] shape) {
        if (Arrays.stream(shape).anyMatch(dimension -> dimension == 0)) {
            return 0;
        }
        long product = 1;
        for (long dimension : shape) {
            product = Math.multiplyExact(product, dimension);
        }
        return product;
    }

    @Override
    public String toString() {
        return dtype + Arrays.toString(shape);
    }
}
