package io.roseinfer.backend.cpu;

/** The kernels of a {@link CpuBackend}. They differ in speed only: all are bit-identical. */
public enum KernelChoice {
    /**
     * Vectors of the processor's preferred width once compiled ({@link io.roseinfer.backend.ModelRunner#warmUp}), scalar kernels until
     * then; without vector support scalar kernels only, with a warning.
     */
    BEST(0),
    SCALAR(0),
    /** Vectors of the processor's preferred width from the first step on, slow until compiled. */
    VECTOR(0),
    VECTOR_128(128),
    VECTOR_256(256),
    VECTOR_512(512);

    private final int bits;

    KernelChoice(int bits) {
        this.bits = bits;
    }

    /** Returns the requested vector width, or 0. */
    public int bits() {
        return bits;
    }
}
