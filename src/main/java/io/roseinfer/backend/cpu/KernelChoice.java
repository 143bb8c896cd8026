package io.roseinfer.backend.cpu;

/** Which kernels a {@link CpuBackend} runs. They differ in speed alone: every choice gives the same bits. */
public enum KernelChoice {
    /**
     * Vectors of the processor's preferred width as soon as the JVM has compiled them ({@link io.roseinfer.backend.ModelRunner#warmUp}),
     * the scalar reference until then; that alone, with a warning, where there are no vectors.
     */
    BEST(0),
    SCALAR(0),
    /** Vectors of the processor's preferred width from the first step on, slow as that is. */
    VECTOR(0),
    VECTOR_128(128),
    VECTOR_256(256),
    VECTOR_512(512);

    private final int bits;

    KernelChoice(int bits) {
        this.bits = bits;
    }

    /** The vector width asked for; 0 where the choice names none. */
    public int bits() {
        return bits;
    }
}
