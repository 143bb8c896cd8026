package io.roseinfer.backend.cpu.panama;

import java.lang.invoke.MethodHandles;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/** Vector widths, in bits, and the species that stand for them. */
public final class VectorWidth {
    private VectorWidth() {}

    /** The width this JVM prefers on this processor. */
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

    /** The species the class behind {@code lookup} was specialised for; the preferred one if it is the template itself. */
    @SuppressWarnings("unchecked")
    static VectorSpecies<Float> of(MethodHandles.Lookup lookup) {
        try {
            VectorSpecies<Float> species = MethodHandles.classData(lookup, "_", VectorSpecies.class);
            return species == null ? FloatVector.SPECIES_PREFERRED : species;
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
