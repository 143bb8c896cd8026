package io.roseinfer.engine.routing;

import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.Optional;

/** A tokenized request that no replica has admitted, as a routing policy sees it. Valid only during the call of the policy. */
public interface RoutedRequest {
    /** Returns the request's id. */
    long id();

    /** Returns the number of prompt tokens. */
    int promptTokens();

    /**
     * Returns the number of the prompt's prefixes of whole KV blocks. It fails unless the policy uses prefixes
     * ({@link RoutingPolicy#usesPrefixes}).
     */
    int prefixes();

    /**
     * Returns the hash of the prompt's first {@code index + 1} KV blocks.
     *
     * @throws IndexOutOfBoundsException if there is no such prefix
     */
    long prefix(int index);

    /** Returns the maximum number of tokens to generate. */
    int maxNewTokens();

    /**
     * Returns how many tokens the caller predicts for the whole completion; the maximum if there is no prediction.
     */
    int predictedNewTokens();

    /** Returns the time of its submission, in nanoseconds of the engine's clock. */
    long arrivalNanos();

    /**
     * Returns the time of its routing, in nanoseconds of the engine's clock: its prompt has just been tokenized, and its grammar
     * compiled. In virtual time this is its arrival.
     */
    long nowNanos();

    /**
     * Returns when the request should be complete, in nanoseconds of the engine's clock: the caller's deadline, which ends
     * it, or target, whichever is earlier; {@link PolicyRequest#NO_DEADLINE} if there is neither.
     */
    long deadlineNanos();

    /** Returns the caller's priority; higher is more urgent. */
    int priority();

    /** Returns the user or group that the request belongs to; empty by default. */
    String tenant();

    /** Returns the object that the caller attached. */
    Optional<Object> tag();
}
