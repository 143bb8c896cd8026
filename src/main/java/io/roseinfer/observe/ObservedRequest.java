package io.roseinfer.observe;

import io.roseinfer.metrics.RequestTimeline;
import java.util.Optional;

/** A request as observers see it. Beyond its id, what it says is settled once it has ended. */
public interface ObservedRequest {
    /** Counted from zero, per engine. */
    long id();

    /** The caller's own object. */
    Optional<Object> tag();

    /** Tokens of the prompt; 0 if it ended before it was tokenized. */
    int promptTokens();

    /** Tokens of the prompt that were found in the prefix cache. */
    int cachedTokens();

    /** Tokens delivered so far. */
    int generatedTokens();

    /** When the engine did what for it, with a stamp for every generated token. Allocates. */
    RequestTimeline timeline();
}
