package io.roseinfer.tensor;

import java.util.Optional;

/** The element types a safetensors file may name, by the exact names it uses. Little-endian, row-major, no strides. */
public enum DType {
    BOOL(8),
    F4(4),
    F6_E2M3(6),
    F6_E3M2(6),
    U8(8),
    I8(8),
    F8_E5M2(8),
    F8_E4M3(8),
    F8_E8M0(8),
    F8_E4M3FNUZ(8),
    F8_E5M2FNUZ(8),
    I16(16),
    U16(16),
    F16(16),
    BF16(16),
    I32(32),
    U32(32),
    F32(32),
    C64(64),
    F64(64),
    I64(64),
    U64(64);

    private final int bits;

    DType(int bits) {
        this.bits = bits;
    }

    /** Bits of one element; not always a multiple of eight. */
    public int bits() {
        return bits;
    }

    /** Bytes of {@code elements} elements. */
    public long bytes(long elements) {
        return Math.multiplyExact(elements, bits) / 8;
    }

    /** Whether weights may be stored in this type: F32, F16 or BF16. */
    public boolean isWeightType() {
        return this == F32 || this == F16 || this == BF16;
    }

    /** The type with exactly this name, if there is one; names are case-sensitive. */
    public static Optional<DType> named(String name) {
        for (DType type : values()) {
            if (type.name().equals(name)) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }
}
