package io.roseinfer.observe;

import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.Optional;

/**
 * A request as observers see it. The values that the caller gave, and the id, never change; all others are final only after it
 * has ended.
 */
public interface ObservedRequest {
    /** Returns its number, counted from zero per engine. */
    long id();

    /** Returns the object that the caller attached. */
    Optional<Object> tag();

    /** Returns the user or group that the request belongs to; empty by default. */
    String tenant();

    /** Returns the caller's priority, higher is more urgent; 0 by default. */
    int priority();

    /**
     * Returns when the request should be complete, in nanoseconds of the engine's clock: the caller's deadline, which ends
     * it, or target, whichever is earlier; {@link PolicyRequest#NO_DEADLINE} if there is neither.
     */
    long deadlineNanos();

    /** Returns the number of prompt tokens; 0 if it ended before it was tokenized. */
    int promptTokens();

    /** Returns the number of prompt tokens found in the prefix cache. */
    int cachedTokens();

    /** Returns the number of tokens delivered so far. */
    int generatedTokens();

    /**
     * Returns the request's timestamps so far, in nanoseconds of the engine's clock, including one per generated token.
     * Allocates memory.
     */
    RequestTimeline timeline();
}
