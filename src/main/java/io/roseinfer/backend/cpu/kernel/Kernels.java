package io.roseinfer.backend.cpu.kernel;

/** One worker's kernels. They own scratch memory: each worker has its own set. */
public record Kernels(PanelProduct product, Attention attention, RowMath rows) {

    /** Makes sets of kernels of one kind. */
    public interface Factory {

        /** Name in reports: {@code scalar}, {@code 512-bit vector}. */
        String name();

        /** Whether they gain only where weights come from memory, in a model that no cache holds. */
        default boolean isForLargeModels() {
            return false;
        }

        /** Makes a set whose attention reaches over at most {@code contextLength} tokens. */
        Kernels create(int contextLength);

        /** Bytes of the arrays of such a set. */
        long bytes(int contextLength);
    }
}
