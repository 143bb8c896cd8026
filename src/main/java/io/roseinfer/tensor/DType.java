package io.roseinfer.tensor;

import java.util.Optional;

/**
 * The element types of safetensors, by their exact names. Little-endian, row-major, no strides. Elements are stored in blocks: one element,
 * or a few that share bytes.
 */
public enum DType {
    BOOL(1),
    F4(2, 1),
    F6_E2M3(4, 3),
    F6_E3M2(4, 3),
    U8(1),
    I8(1),
    F8_E5M2(1),
    F8_E4M3(1),
    F8_E8M0(1),
    F8_E4M3FNUZ(1),
    F8_E5M2FNUZ(1),
    I16(2),
    U16(2),
    F16(2),
    BF16(2),
    I32(4),
    U32(4),
    F32(4),
    C64(8),
    F64(8),
    I64(8),
    U64(8);

    private final int blockElements;
    private final int blockBytes;

    DType(int bytes) {
        this(1, bytes);
    }

    DType(int blockElements, int blockBytes) {
        this.blockElements = blockElements;
        this.blockBytes = blockBytes;
    }

    /** Returns the elements of a block; 1 if an element is a whole number of bytes. */
    public int blockElements() {
        return blockElements;
    }

    /** Returns the bytes of a block. */
    public int blockBytes() {
        return blockBytes;
    }

    /** Returns the bytes of {@code elements}, a whole number of blocks. */
    public long bytes(long elements) {
        return Math.multiplyExact(elements / blockElements, blockBytes);
    }

    /** Returns whether weights may be stored in this type: F32, F16 or BF16. */
    public boolean isWeightType() {
        return this == F32 || this == F16 || this == BF16;
    }

    /** Returns the type with this case-sensitive name, if any. */
    public static Optional<DType> named(String name) {
        for (DType type : values()) {
            if (type.name().equals(name)) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }
}
