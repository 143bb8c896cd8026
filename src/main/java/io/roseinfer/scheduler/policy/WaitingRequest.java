package io.roseinfer.scheduler.policy;

import java.util.Optional;

/** A waiting request, as an {@link AdmissionPolicy} sees it. */
public interface WaitingRequest {

    long id();

    /** Returns its position in the order of arrival over all replicas, counted from zero. */
    long arrival();

    /**
     * Returns the number of steps that had been planned when it arrived; {@link QueueView#step} minus this is its age.
     */
    long arrivalStep();

    /** Returns the caller's priority, higher is more urgent; 0 by default. */
    int priority();

    /** Returns the object that the caller attached. */
    Optional<Object> tag();

    /** Returns the number of prompt tokens. */
    int promptLength();

    /**
     * Returns the number of leading tokens in the prefix cache of the ranking replica. Each call looks them up, in time
     * proportional to the prompt.
     */
    int cachedLength();

    /**
     * Returns the number of tokens to compute before its next token, including the completion so far if it was
     * preempted.
     */
    int remainingTokens();

    /** Returns the maximum number of tokens it may still generate. */
    int remainingNewTokens();

    /**
     * Returns how often it was skipped: iterations of any replica that admitted a later request instead; at most
     * {@link AdmissionPolicy#MAX_SKIPS}.
     */
    int timesSkipped();

    /** Returns whether it ran before and was preempted. */
    boolean isRestart();
}
