package io.roseinfer.metrics;

import java.util.Arrays;

/**
 * When the things happened that the engine did for one request, in nanoseconds of the engine's clock.
 *
 * @param submittedNanos the submit call was entered
 * @param tokenizedNanos the prompt was token ids
 * @param admittedNanos its batch was handed to the scheduler for prefill; equals {@code finishedNanos} if that never happened
 * @param tokenNanos one stamp per generated token, when the engine had it; tokens of one step share theirs
 * @param finishedNanos the engine was done with the request
 * @param tokenSteps for each generated token the number of the step that sampled it, as in the step's {@link StepRecord}
 * @param engine which of several engines had it last, as in the records of its steps
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

    /** Returns when its tokens came, as tokens that came one by one. */
    public TokenTimes tokenTimes() {
        return TokenTimes.oneByOne(tokenNanos);
    }
}
