package io.roseinfer.backend.cpu.panama;

import io.roseinfer.backend.cpu.kernel.Attention;
import io.roseinfer.backend.cpu.kernel.Kernels;
import io.roseinfer.backend.cpu.kernel.RowMath;
import java.util.List;

/** Kernels for vectors of one width. */
public final class VectorKernels implements Kernels.Factory {
    private final int bits;
    private final boolean readAhead;

    /** Kernels for vectors of 128, 256 or 512 bits; wider than the processor's is correct, and very slow. */
    public VectorKernels(int bits) {
        this(bits, Processor.gainsByReadingAhead());
    }

    /**
     * The kernels for this processor: a kind that has few loops to compile, then, where it was measured to pay, one that reads weights
     * ahead, which has three times as many besides.
     */
    public static List<Kernels.Factory> kinds(int bits) {
        Kernels.Factory plain = new VectorKernels(bits, false);
        return Processor.gainsByReadingAhead() ? List.of(plain, new VectorKernels(bits, true)) : List.of(plain);
    }

    /**
     * The same with a say in whether products read weights ahead, which changes their speed alone.
     *
     * @param readAhead whether they do where it was measured to pay on an Intel processor
     */
    public VectorKernels(int bits, boolean readAhead) {
        VectorWidth.species(bits);
        this.bits = bits;
        this.readAhead = readAhead;
    }

    @Override
    public String name() {
        return bits + "-bit vector";
    }

    @Override
    public boolean isForLargeModels() {
        return readAhead;
    }

    @Override
    public Kernels create(int contextLength) {
        return new Kernels(
                new VectorProduct(bits, readAhead),
                Specialization.of(Attention.class, VectorAttention.class, bits, contextLength),
                Specialization.of(RowMath.class, VectorRows.class, bits, contextLength));
    }
}
