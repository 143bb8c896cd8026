package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;

/**
 * The time limit of a step before its device counts as hung: a minute, plus ten times what the slowest kernels need for its work. So
 * a long prompt is not mistaken for a hang.
 *
 * @param attentionHeads query heads over all layers
 * @param weights over all layers
 */
record StepBudget(long attentionHeads, long weights, int multiprocessors) {
    /** Added for steps of any size. */
    static final long MIN_NANOS = 60_000_000_000L;

    /** Query-key pairs per second and SM; a tenth of what the generic attention kernel computes (at most 58 million). */
    private static final double KEYS_PER_SECOND = 5e6;

    /** Operations per second and SM; about a tenth of the generic fp32 GEMM's. */
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
