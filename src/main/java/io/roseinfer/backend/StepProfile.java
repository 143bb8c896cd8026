package io.roseinfer.backend;

import java.util.List;

/**
 * Where the time of one step went.
 *
 * @param kind what sort of step it was
 * @param rows sequences in the step
 * @param tokens tokens in the step
 * @param stepNanos from the beginning of {@link ModelRunner#submit} to the end of {@link ModelRunner#await}
 * @param parts its operators, each at most once; together they are {@code stepNanos}, but for what waking the caller takes
 */
public record StepProfile(Kind kind, int rows, int tokens, long stepNanos, List<Part> parts) {

    /** Steps that are not to be averaged with each other. */
    public enum Kind {
        /** Some row computes more than one token. */
        PREFILL,
        /** Every row computes one token. */
        DECODE
    }

    /**
     * One operator's share of a step, all layers together.
     *
     * @param calls how often it ran
     * @param nanos the time it took; of several workers the mean, so that the parts add up
     * @param bytes weights, keys and values it had to read at least; 0 where that says nothing
     * @param flops useful floating point operations, a multiply-add being two; 0 where that says nothing
     */
    public record Part(Operator operator, int calls, long nanos, long bytes, long flops) {}

    public StepProfile {
        parts = List.copyOf(parts);
    }
}
