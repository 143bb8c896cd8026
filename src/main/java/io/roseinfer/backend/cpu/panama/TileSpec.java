package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The constants that a copy of a kernel class is compiled with: see {@link Specialization}.
 *
 * @param bits width of its vectors
 * @param format weights that it multiplies by; floats for kernels that see none
 * @param prefetchers tiles that share the prefetching of the next block ({@link BlockPrefetch}); 0 where none is prefetched
 */
record TileSpec(int bits, WeightFormat format, int prefetchers) {
    /** The spec of a class that is not specialised. */
    static final TileSpec PREFERRED = vectors(FloatVector.SPECIES_PREFERRED.vectorBitSize());

    /** The spec of a kernel that multiplies by no weights. */
    static TileSpec vectors(int bits) {
        return new TileSpec(bits, new Fp32Weights(), 0);
    }

    VectorSpecies<Float> species() {
        return VectorWidth.species(bits);
    }
}
