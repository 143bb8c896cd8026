package io.roseinfer.engine.routing;

import java.util.Optional;

/** A tokenized request that no replica has admitted, as a routing policy sees it. */
public interface RoutedRequest {
    /** Returns the request's id. */
    long id();

    /** Returns the number of prompt tokens. */
    int promptTokens();

    /**
     * Returns the hashes of the prompt's prefixes of one KV block, two blocks and so on; empty unless the policy uses
     * prefixes. The array must not be modified.
     */
    long[] prefixes();

    /** Returns the maximum number of tokens to generate. */
    int maxNewTokens();

    /** Returns the caller's priority; higher is more urgent. */
    int priority();

    /** Returns the object that the caller attached. */
    Optional<Object> tag();
}
