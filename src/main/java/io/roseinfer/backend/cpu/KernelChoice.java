package io.roseinfer.backend.cpu;

/** Which kernels a {@link CpuBackend} runs. They differ in speed alone: every choice gives the same bits. */
public enum KernelChoice {
    /** Vectors of the processor's preferred width; the scalar reference, with a warning, where there are none. */
    BEST(0),
    SCALAR(0),
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
