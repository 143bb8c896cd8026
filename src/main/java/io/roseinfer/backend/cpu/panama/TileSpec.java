package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.Fp32Weights;
import io.roseinfer.backend.cpu.kernel.WeightFormat;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The constants of a specialized kernel class; see {@link Specialization}.
 *
 * @param bits vector width
 * @param format weight format; fp32 for kernels without weights
 * @param prefetchers tiles that share the prefetch of the next block ({@link BlockPrefetch}); 0 for none
 */
record TileSpec(int bits, WeightFormat format, int prefetchers) {
    /** The spec of an unspecialized class. */
    static final TileSpec PREFERRED = vectors(FloatVector.SPECIES_PREFERRED.vectorBitSize());

    /** Returns the spec of a kernel without weights. */
    static TileSpec vectors(int bits) {
        return new TileSpec(bits, new Fp32Weights(), 0);
    }

    VectorSpecies<Float> species() {
        return VectorWidth.species(bits);
    }
}
