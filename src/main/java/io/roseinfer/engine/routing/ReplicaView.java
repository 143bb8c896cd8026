package io.roseinfer.engine.routing;

/**
 * One of several engines, as a policy sees it. The figures are read while the engine works, each by itself: two of them may be of
 * different steps.
 */
public interface ReplicaView {
    /** Its number, from 0 on, the same for its whole life. */
    int index();

    /** Requests that were given to it and have not ended. */
    int requests();

    /** Those of them that hold KV blocks. */
    int running();

    /** Those of them that have yet to be admitted. */
    default int waiting() {
        return Math.max(0, requests() - running());
    }

    /** Tokens that its requests may still take at most: prompts, and tokens to be generated, of all that have not ended. */
    long outstandingTokens();

    /**
     * Prompt tokens of those of its requests that have no token yet, without the ones that its prefix cache had when they were routed:
     * what it computes before a new request gets its first token.
     */
    long uncomputedPromptTokens();

    /**
     * Tokens that a prompt begins with and that its prefix cache has now. Known to policies that look at prefixes
     * ({@link RoutingPolicy#looksAtPrefixes}); 0 for others.
     */
    int cachedTokens(RoutedRequest request);

    /** Tokens in the KV blocks that requests hold. */
    long heldTokens();

    /** Tokens that the KV pool has room for. */
    long poolTokens();
}
