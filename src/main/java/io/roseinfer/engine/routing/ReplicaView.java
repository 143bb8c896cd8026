package io.roseinfer.engine.routing;

/**
 * A replica, as a routing policy sees it. Values are read while the replica works, each by itself, so two of them may
 * be from different steps.
 */
public interface ReplicaView {
    /** Returns the replica's number, counted from 0; it never changes. */
    int index();

    /** Returns the number of requests assigned to it that have not ended. */
    int requests();

    /** Returns how many of its requests hold KV blocks. */
    int running();

    /** Returns how many of its requests have not been admitted. */
    default int waiting() {
        return Math.max(0, requests() - running());
    }

    /** Returns the maximum tokens of its requests, prompts and completions, that have not ended. */
    long outstandingTokens();

    /**
     * Returns the predicted tokens of its requests, prompts and completions, that have not ended. A request without a
     * prediction, or with a higher one, counts with its maximum.
     */
    long predictedTokens();

    /**
     * Returns the prompt tokens of its requests without a first token, minus those in its prefix cache when they were
     * routed: what it computes before the first token of a new request.
     */
    long uncomputedPromptTokens();

    /**
     * Returns how many leading tokens of a prompt are in its prefix cache now. It fails unless the policy uses prefixes
     * ({@link RoutingPolicy#usesPrefixes}).
     */
    int cachedTokens(RoutedRequest request);

    /** Returns the token capacity of the KV blocks held by requests. */
    long heldTokens();

    /** Returns the token capacity of the KV pool. */
    long poolTokens();

    /**
     * Returns the number of waiting requests that no replica was chosen for ({@link RoutingPolicy#SHARED_QUEUE}), and that
     * this one may admit like any other. This and the other values of the shared queue are current with any {@link ViewAge}.
     */
    int sharedRequests();

    /** Returns the predicted tokens of the shared requests, like {@link #predictedTokens}. */
    long sharedPredictedTokens();

    /** Returns the prompt tokens of the shared requests to compute; no cached tokens are subtracted. */
    long sharedPromptTokens();
}
