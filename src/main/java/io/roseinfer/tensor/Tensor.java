package io.roseinfer.tensor;

import io.roseinfer.base.Check;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A typed, shaped, read-only view of memory that somebody else owns: row-major, little-endian, dense, at any byte alignment
 * (the safetensors format promises none).
 */
public final class Tensor {
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

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

    /** The dimensions, outermost first, as a copy. */
    public long[] shape() {
        return shape.clone();
    }

    public boolean hasShape(long... expected) {
        return Arrays.equals(shape, expected);
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

    /** The element at a row-major index as a float; exact for F32, F16 and BF16, an error for any other type. */
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
        switch (dtype) {
            case F32 -> MemorySegment.copy(data, FLOAT, 4 * from, target, targetFrom, count);
            case F16 -> {
                short[] bits = bits(from, count);
                for (int i = 0; i < count; i++) {
                    target[targetFrom + i] = Float.float16ToFloat(bits[i]);
                }
            }
            case BF16 -> {
                short[] bits = bits(from, count);
                for (int i = 0; i < count; i++) {
                    target[targetFrom + i] = bf16ToFloat(bits[i]);
                }
            }
            default -> throw notAFloat();
        }
    }

    /** Elements of two bytes as an array, which code that is not compiled yet reads many times faster than memory. */
    private short[] bits(long from, int count) {
        short[] bits = new short[count];
        MemorySegment.copy(data, SHORT, 2 * from, bits, 0, count);
        return bits;
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
        if (Float.isNaN(value)) {
            return (short) ((bits >>> 16) | 0x40);
        }
        int roundingBias = 0x7fff + ((bits >>> 16) & 1);
        return (short) ((bits + roundingBias) >>> 16);
    }

    /** The product of the dimensions; zero where one is, however large the others are. */
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
