package io.roseinfer.observe;

import io.roseinfer.metrics.RequestTimeline;
import java.util.Optional;

/** A request as observers see it. All values except the id and the tag are final only after it has ended. */
public interface ObservedRequest {
    /** Returns its number, counted from zero per engine. */
    long id();

    /** Returns the object that the caller attached. */
    Optional<Object> tag();

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
