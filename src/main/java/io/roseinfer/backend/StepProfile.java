package io.roseinfer.backend;

import java.util.List;

/**
 * The time of a step by operator.
 *
 * @param kind kind of step
 * @param rows sequences in the step
 * @param tokens tokens in the step
 * @param stepNanos from the beginning of {@link ModelRunner#submit} to the end of {@link ModelRunner#await}
 * @param parts its operators, each at most once; they add up to {@code stepNanos}, except for waking the caller
 */
public record StepProfile(Kind kind, int rows, int tokens, long stepNanos, List<Part> parts) {

    /** Kinds of steps that are averaged separately. */
    public enum Kind {
        /** A row has more than one token. */
        PREFILL,
        /** Every row has one token. */
        DECODE
    }

    /**
     * One operator's share of a step, over all layers.
     *
     * @param calls number of calls
     * @param nanos its time; the mean over workers, so that the parts add up
     * @param bytes minimum bytes of weights, keys and values read; 0 if not meaningful
     * @param flops useful floating-point operations, two per multiply-add; 0 if not meaningful
     */
    public record Part(Operator operator, int calls, long nanos, long bytes, long flops) {}

    public StepProfile {
        parts = List.copyOf(parts);
    }
}
