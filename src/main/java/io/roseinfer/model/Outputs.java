package io.roseinfer.model;

/**
 * A part of a stored tensor that holds outputs of a matrix, or elements of a vector: {@code count} of them, in runs of
 * {@code run} that begin {@code stride} apart. A whole tensor is one run.
 *
 * @param first the start of the first run
 */
public record Outputs(StoredTensor tensor, int count, int first, int run, int stride) {
    /** Returns all elements of a tensor, in its order. */
    public static Outputs whole(StoredTensor tensor, int count) {
        return new Outputs(tensor, count, 0, count, count);
    }

    /** Returns the index in the tensor of an output, counted from zero. */
    public int stored(int output) {
        return first + output / run * stride + output % run;
    }

    /** Returns the number of outputs that are adjacent in the tensor, from this one on. */
    int together(int output) {
        return Math.min(run - output % run, count - output);
    }

    /** Returns whether the outputs are adjacent in the tensor, from its beginning. */
    boolean isOneRun() {
        return first == 0 && run >= count;
    }
}
