package io.roseinfer.observe;

import io.roseinfer.scheduler.FinishReason;

/**
 * Observes an engine's requests, in this order for each: accepted, tokenized, admitted, ended. A request may end any
 * time after it was accepted; it ends once or is withdrawn.
 *
 * <p>Calls come from the caller's, the tokenizer's and the engine's threads, concurrently for different requests.
 * Observers should be fast and must not throw: an exception fails the calling thread.
 */
public interface RequestObserver {

    /** A request is being submitted, on the caller's thread. */
    default void submitting() {}

    /** The submission was accepted or rejected, on the caller's thread. */
    default void submitted() {}

    /** The request is in flight. */
    default void accepted(ObservedRequest request) {}

    /** The accepted request's submission failed after all; it has no reader and no outcome. */
    default void withdrawn(ObservedRequest request) {}

    /** The prompt has been tokenized. */
    default void tokenized(ObservedRequest request) {}

    /**
     * The request's grammar has been compiled, or found in the cache, and the first mask computed; on the tokenizer's
     * thread, before {@link #tokenized}.
     */
    default void grammarCompiled(ObservedRequest request, long nanos) {}

    /**
     * A mask of the request's grammar has been computed, with drafts also those after tokens that the grammar fixes; on a thread for masks. The
     * request may have ended meanwhile.
     */
    default void maskComputed(ObservedRequest request, long nanos) {}

    /** The request is part of a step for the first time, on the engine's thread. */
    default void admitted(ObservedRequest request) {}

    /** The request has ended. Its reader is notified after all observers, and so finds the request counted. */
    default void ended(ObservedRequest request, FinishReason reason) {}
}
