package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;

/**
 * The time that a step may take before its device is given up: a minute, and the time that a device ten times slower than the slowest
 * kernels would take for its work. So a long prompt is not mistaken for a device that hangs.
 *
 * @param attentionHeads heads of all layers
 * @param weights of all layers
 */
record StepBudget(long attentionHeads, long weights, int multiprocessors) {
    /** For steps of any size. */
    static final long MIN_NANOS = 60_000_000_000L;

    /** The generic attention kernel issues at most 58 million a second on a multiprocessor. */
    private static final double KEYS_PER_SECOND = 5e6;

    /** The generic GEMM in fp32 does about ten times as many on a multiprocessor. */
    private static final double OPERATIONS_PER_SECOND = 1e10;

    private static final double NANOS_PER_SECOND = 1e9;

    static StepBudget of(ModelShape shape, int multiprocessors) {
        long layers = shape.spec().layers();
        return new StepBudget(layers * shape.heads(), layers * shape.layerWeights(), multiprocessors);
    }

    long nanos(StepInputs step) {
        double keys = 0;
        for (int row = 0; row < step.rows(); row++) {
            keys += (double) (step.rowStart(row + 1) - step.rowStart(row)) * step.contextLength(row);
        }
        double attention = keys * attentionHeads / KEYS_PER_SECOND;
        double matrices = 2.0 * step.tokens() * weights / OPERATIONS_PER_SECOND;
        return MIN_NANOS + (long) ((attention + matrices) / multiprocessors * NANOS_PER_SECOND);
    }
}
