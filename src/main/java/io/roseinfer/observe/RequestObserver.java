package io.roseinfer.observe;

import io.roseinfer.scheduler.FinishReason;

/**
 * Watches an engine's requests, in this order for each: accepted, tokenized, admitted, ended. A request may end at any point after it
 * was accepted; it ends once, or is withdrawn.
 *
 * <p>Any thread may call, several at a time for different requests: the caller's, a tokenizer's, the engine's. An observer should be
 * quick and throw nothing: what it throws fails the thread that called it.
 */
public interface RequestObserver {

    /** On the caller's thread: a request is being submitted. */
    default void submitting() {}

    /** On the same thread: it was accepted, or has been refused. */
    default void submitted() {}

    /** The request counts as in flight. */
    default void accepted(ObservedRequest request) {}

    /** It was accepted, but its submission has failed after all: nobody reads it, and it has no ending. */
    default void withdrawn(ObservedRequest request) {}

    /** Its prompt is token ids. */
    default void tokenized(ObservedRequest request) {}

    /** On the engine's thread: it is part of a step for the first time. */
    default void admitted(ObservedRequest request) {}

    /** It has ended. Its stream has learned of it. */
    default void ended(ObservedRequest request, FinishReason reason) {}
}
