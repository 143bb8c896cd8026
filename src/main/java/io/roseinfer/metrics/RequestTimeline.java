package io.roseinfer.metrics;

import java.util.Arrays;

/**
 * Timestamps of one request in the engine, in nanoseconds of the engine's clock.
 *
 * @param submittedNanos when the submit call was entered
 * @param tokenizedNanos when the prompt was tokenized
 * @param admittedNanos when it was first scheduled for prefill; {@code finishedNanos} if it never was
 * @param tokenNanos when the engine had each generated token; tokens of one step have the same time
 * @param finishedNanos when the engine had finished the request
 * @param tokenSteps number of the step that sampled each token, as in its {@link StepRecord}
 * @param engine the engine that ran the request last, as in the records of its steps
 */
public record RequestTimeline(
        long submittedNanos,
        long tokenizedNanos,
        long admittedNanos,
        long[] tokenNanos,
        long finishedNanos,
        long[] tokenSteps,
        int engine) {
    @Override
    public String toString() {
        return "RequestTimeline[submittedNanos=" + submittedNanos + ", tokenizedNanos=" + tokenizedNanos
                + ", admittedNanos=" + admittedNanos + ", tokenNanos=" + Arrays.toString(tokenNanos)
                + ", finishedNanos=" + finishedNanos + ", tokenSteps=" + Arrays.toString(tokenSteps)
                + ", engine=" + engine + "]";
    }

    /** Returns the times of its tokens, one token per event. */
    public TokenTimes tokenTimes() {
        return TokenTimes.oneByOne(tokenNanos);
    }
}
