package io.roseinfer.backend.cpu.panama;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Vector widths in bits, and their species. */
public final class VectorWidth {
    private VectorWidth() {}

    /** Returns the JVM's preferred width on this processor. */
    public static int preferredBits() {
        return FloatVector.SPECIES_PREFERRED.vectorBitSize();
    }

    static VectorSpecies<Float> species(int bits) {
        return switch (bits) {
            case 128 -> FloatVector.SPECIES_128;
            case 256 -> FloatVector.SPECIES_256;
            case 512 -> FloatVector.SPECIES_512;
            default -> throw new IllegalArgumentException("no kernels for vectors of " + bits + " bits");
        };
    }
}
