package io.roseinfer.scheduler.policy;

/** A request that holds KV blocks, as policies see it. */
public interface RunningRequest extends PolicyRequest {
    /** Returns the number of KV blocks it holds, including shared ones. */
    int heldBlocks();

    /**
     * Returns the number of tokens to compute before its next token can be drawn: what is left of its prompt, and 1 once it
     * decodes. Tokens of steps in flight count as computed.
     */
    int remainingTokens();

    /**
     * Returns when the last of its tokens was sampled, in nanoseconds of the engine's clock: when the results of that step had been
     * applied. 0 before its first token. Steps in flight have sampled none yet.
     */
    long lastTokenNanos();
}
