package io.roseinfer.metrics;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Timestamps of one request in the engine, in nanoseconds of the engine's clock. Immutable: arrays are copied.
 *
 * @param submittedNanos when the submit call was entered
 * @param tokenizedNanos when the prompt was tokenized
 * @param admittedNanos when it was first scheduled for prefill; {@code finishedNanos} if it never was
 * @param tokenNanos when the engine had each generated token; tokens of one step have the same time
 * @param finishedNanos when the engine had finished the request
 * @param tokenSteps number of the step that sampled each token, as in its {@link StepRecord}
 * @param replica the replica that ran the request last: {@link StepRecord.Fact#ENGINE} of its steps
 */
public record RequestTimeline(
        long submittedNanos,
        long tokenizedNanos,
        long admittedNanos,
        long[] tokenNanos,
        long finishedNanos,
        long[] tokenSteps,
        int replica) {
    public RequestTimeline {
        tokenNanos = Objects.requireNonNull(tokenNanos, "tokenNanos").clone();
        tokenSteps = Objects.requireNonNull(tokenSteps, "tokenSteps").clone();
    }

    /** Returns when the engine had each generated token, as a copy. */
    @Override
    public long[] tokenNanos() {
        return tokenNanos.clone();
    }

    /** Returns the number of the step that sampled each token, as a copy. */
    @Override
    public long[] tokenSteps() {
        return tokenSteps.clone();
    }

    /** Returns the number of generated tokens. */
    public int tokens() {
        return tokenNanos.length;
    }

    /** Returns the time of the first token, or the end of the request if it generated none. */
    public long firstTokenNanos() {
        return tokenNanos.length == 0 ? finishedNanos : tokenNanos[0];
    }

    /** Returns whether {@code other} has equal times, steps and replica. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RequestTimeline that
                && submittedNanos == that.submittedNanos
                && tokenizedNanos == that.tokenizedNanos
                && admittedNanos == that.admittedNanos
                && Arrays.equals(tokenNanos, that.tokenNanos)
                && finishedNanos == that.finishedNanos
                && Arrays.equals(tokenSteps, that.tokenSteps)
                && replica == that.replica;
    }

    @Override
    public int hashCode() {
        return 31 * (31 * Arrays.hashCode(tokenNanos) + Arrays.hashCode(tokenSteps))
                + Objects.hash(submittedNanos, tokenizedNanos, admittedNanos, finishedNanos, replica);
    }

    @Override
    public String toString() {
        return "RequestTimeline[submittedNanos=" + submittedNanos + ", tokenizedNanos=" + tokenizedNanos
                + ", admittedNanos=" + admittedNanos + ", tokenNanos=" + Arrays.toString(tokenNanos)
                + ", finishedNanos=" + finishedNanos + ", tokenSteps=" + Arrays.toString(tokenSteps)
                + ", replica=" + replica + "]";
    }

    /** Returns the times of its tokens, one token per event. */
    public TokenTimes tokenTimes() {
        return TokenTimes.oneByOne(tokenNanos.clone());
    }
}
