package io.roseinfer.backend.cpu.kernel;

/** One worker's kernels. They own scratch memory: each worker has its own set. */
public record Kernels(PanelProduct product, Attention attention, RowMath rows) {

    /** Makes sets of kernels of one kind. */
    public interface Factory {

        /** What reports call them: {@code scalar}, {@code 512-bit vector}. */
        String name();

        /** Makes a set whose attention reaches over at most {@code contextLength} tokens. */
        Kernels create(int contextLength);
    }
}
