package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.RowMath;
import java.util.List;

/** Kernels for vectors of one width. */
public final class VectorKernels implements Kernels.Factory {
    private final int bits;
    private final boolean prefetch;

    /** Kernels for vectors of 128, 256 or 512 bits; wider than the processor's is correct, and very slow. */
    public VectorKernels(int bits) {
        this(bits, Processor.gainsByPrefetching());
    }

    /**
     * The kernels for this processor: a kind that has few loops to compile, then, where it was measured to pay, one that prefetches
     * weights, which has three times as many besides.
     */
    public static List<Kernels.Factory> kinds(int bits) {
        Kernels.Factory plain = new VectorKernels(bits, false);
        return Processor.gainsByPrefetching() ? List.of(plain, new VectorKernels(bits, true)) : List.of(plain);
    }

    /**
     * Kernels for vectors of 128, 256 or 512 bits.
     *
     * @param prefetch whether products prefetch weights where it was measured to pay on an Intel processor; changes their speed alone
     */
    public VectorKernels(int bits, boolean prefetch) {
        VectorWidth.species(bits);
        this.bits = bits;
        this.prefetch = prefetch;
    }

    @Override
    public String name() {
        return bits + "-bit vector";
    }

    @Override
    public boolean isForLargeModels() {
        return prefetch;
    }

    @Override
    public Kernels create(int contextLength) {
        return new Kernels(
                new VectorProduct(bits, prefetch),
                Specialization.<Attention>of(VectorAttention.class, TileSpec.vectors(bits), contextLength),
                Specialization.<RowMath>of(VectorRows.class, TileSpec.vectors(bits)));
    }

    @Override
    public long bytes(int contextLength) {
        return VectorProduct.BYTES + VectorAttention.bytes(contextLength) + VectorRows.BYTES;
    }
}
