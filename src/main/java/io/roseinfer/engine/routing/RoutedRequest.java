package io.roseinfer.engine.routing;

import java.util.Optional;

/** A request whose prompt is known and which no engine has yet, as a policy sees it. */
public interface RoutedRequest {
    /** The number it was given when it was accepted. */
    long id();

    /** Tokens of its prompt. */
    int promptTokens();

    /**
     * Hashes of what its prompt begins with, of one KV block, of two, and so on; none unless the policy looks at prefixes. Its own array,
     * not to be written to.
     */
    long[] prefixes();

    /** Most tokens it asks for. */
    int maxNewTokens();

    /** The caller's priority; higher is more urgent. */
    int priority();

    /** The caller's own object. */
    Optional<Object> tag();
}
