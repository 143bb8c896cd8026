package io.roseinfer.backend.cpu.kernel;

/**
 * One worker's kernels. They own scratch memory: each worker has its own set.
 *
 * @param blocks products with the weights of the blocks
 * @param head products with the weights of the head, which may be the same
 */
public record Kernels(PanelMatmul blocks, PanelMatmul head, Attention attention, RowMath rows) {

    /** Makes sets of kernels of one kind. */
    public interface Factory {

        /** Name in reports: {@code scalar}, {@code 512-bit vector}. */
        String name();

        /** Whether they gain only where weights come from memory, in a model that no cache holds. */
        default boolean isForLargeModels() {
            return false;
        }

        /**
         * Makes a set whose attention reaches over at most {@code contextLength} tokens.
         *
         * @param format the weights of the blocks
         */
        Kernels create(WeightFormat format, int contextLength);

        /** Bytes of the arrays of such a set. */
        long bytes(WeightFormat format, int contextLength);
    }
}
