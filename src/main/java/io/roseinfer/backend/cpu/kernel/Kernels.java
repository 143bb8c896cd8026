package io.roseinfer.backend.cpu.kernel;

/**
 * One worker's kernels, with their own scratch memory.
 *
 * @param blocks matmul with the blocks' weights
 * @param head matmul with the head's weights, possibly the same
 */
public record Kernels(PanelMatmul blocks, PanelMatmul head, Attention attention, RowMath rows) {

    /** Creates kernels of one kind. */
    public interface Factory {

        /** Returns the name in reports: {@code scalar}, {@code 512-bit vector}. */
        String name();

        /** Returns whether they are faster only for models larger than the caches. */
        default boolean isForLargeModels() {
            return false;
        }

        /**
         * Creates kernels for contexts of up to {@code contextLength} tokens.
         *
         * @param format the weights of the blocks
         */
        Kernels create(WeightFormat format, int contextLength);

        /** Returns the bytes of the kernels' arrays. */
        long bytes(WeightFormat format, int contextLength);
    }
}
