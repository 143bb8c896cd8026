package io.roseinfer.scheduler.policy;

import java.util.Optional;

/** A request that waits, as an {@link AdmissionPolicy} sees it. */
public interface WaitingRequest {

    long id();

    /** Place in the order of arrival at all engines together, counted from zero. */
    long arrival();

    /** Steps that had been planned when it arrived; {@link QueueView#step} minus this is its age in steps. */
    long arrivalStep();

    /** The caller's priority, higher is more urgent; 0 unless given. */
    int priority();

    /** The caller's own object. */
    Optional<Object> tag();

    /** Tokens of the prompt. */
    int promptLength();

    /** Leading tokens that the prefix cache of the engine that ranks holds now. Looked up when asked, in time proportional to the prompt. */
    int cachedLength();

    /** Tokens to compute before the request yields its next token; of a restarted request the completion so far counts too. */
    int remainingTokens();

    /** Most tokens it may still generate. */
    int remainingNewTokens();

    /** Iterations, of any engine, that admitted a request that came later, and not this one; at most {@link AdmissionPolicy#MAX_PASSES}. */
    int timesPassedOver();

    /** Whether it ran before and had to give its blocks back. */
    boolean isRestart();
}
