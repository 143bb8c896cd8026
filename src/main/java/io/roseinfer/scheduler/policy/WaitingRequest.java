package io.roseinfer.scheduler.policy;

/** A waiting request, as an {@link AdmissionPolicy} sees it. */
public interface WaitingRequest extends PolicyRequest {
    /**
     * Returns the number of leading tokens in the prefix cache of the ranking replica. Each call looks them up, in time
     * proportional to the prompt. Valid only in calls of {@link AdmissionPolicy}.
     */
    int cachedLength();

    /**
     * Returns the number of tokens to compute before its next token, including the completion so far if it was
     * preempted, and including the {@link #cachedLength} tokens that it can reuse.
     */
    int remainingTokens();

    /**
     * Returns how often it was passed over: iterations of any replica that admitted a later request instead; at most the
     * option {@code maxPasses}, by default {@value AdmissionPolicy#MAX_PASSES}.
     */
    int timesPassedOver();

    /** Returns whether it ran before and was preempted. */
    boolean isRestart();
}
