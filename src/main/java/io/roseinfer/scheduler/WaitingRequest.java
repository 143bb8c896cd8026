package io.roseinfer.scheduler;

/** What an {@link AdmissionPolicy} sees of a request that waits. */
public interface WaitingRequest {

    long id();

    /** Tokens of the prompt. */
    int promptLength();

    /** Tokens to compute before the request yields its next token; of a restarted request the completion so far counts too. */
    int remainingTokens();

    /** Most tokens it may still generate. */
    int remainingNewTokens();

    /** Iterations that admitted a request that came later, and not this one; at most {@link AdmissionPolicy#MAX_PASSES}. */
    int timesPassedOver();

    /** Whether it ran before and had to give its blocks back. */
    boolean isRestart();
}
