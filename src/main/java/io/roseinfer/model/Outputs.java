package io.roseinfer.model;

/**
 * Outputs of a matrix, or elements of a vector, that one stored tensor has: {@code count} of them, in runs of {@code run} that
 * begin {@code stride} apart. A tensor that is taken whole is one run.
 *
 * @param first where the first run begins
 */
public record Outputs(StoredTensor tensor, int count, int first, int run, int stride) {
    /** All that a tensor has, in its own order. */
    public static Outputs whole(StoredTensor tensor, int count) {
        return new Outputs(tensor, count, 0, count, count);
    }

    /** Where the tensor has an output, counted from zero. */
    public int stored(int output) {
        return first + output / run * stride + output % run;
    }

    /** How many outputs from this one on stand side by side in the tensor. */
    int together(int output) {
        return Math.min(run - output % run, count - output);
    }

    /** Whether the outputs stand in the tensor one after another, from its beginning. */
    boolean isOneRun() {
        return first == 0 && run >= count;
    }
}
