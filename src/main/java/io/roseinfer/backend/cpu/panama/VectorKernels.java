package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.RowMath;

/** Kernels for vectors of one width. */
public final class VectorKernels implements Kernels.Factory {
    private final int bits;

    /** Kernels for vectors of 128, 256 or 512 bits; wider than the processor's is correct, and very slow. */
    public VectorKernels(int bits) {
        VectorWidth.species(bits);
        this.bits = bits;
    }

    @Override
    public String name() {
        return bits + "-bit vector";
    }

    @Override
    public Kernels create(int contextLength) {
        return new Kernels(
                new VectorProduct(bits),
                Specialization.of(Attention.class, VectorAttention.class, bits, contextLength),
                Specialization.of(RowMath.class, VectorRows.class, bits, contextLength));
    }
}
