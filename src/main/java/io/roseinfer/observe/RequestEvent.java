package io.roseinfer.observe;

import io.roseinfer.scheduler.FinishReason;

/**
 * An event of a request, in this order for each: accepted, grammar compiled if it has one,
 * tokenized, admitted, ended. A request may end any time after
 * it was accepted; it ends once or is withdrawn. Simulated time reports neither {@link Submitting} nor {@link Submitted}.
 */
public sealed interface RequestEvent {

    /** A request is being submitted, on the caller's thread. */
    record Submitting() implements RequestEvent {}

    /** The submission was accepted or rejected, on the caller's thread. */
    record Submitted() implements RequestEvent {}

    /** The request is in flight. */
    record Accepted(ObservedRequest request) implements RequestEvent {}

    /** The accepted request's submission failed after all; it has no reader and no outcome. */
    record Withdrawn(ObservedRequest request) implements RequestEvent {}

    /**
     * The request's grammar has been compiled, or found in the cache, and its first mask computed.
     *
     * @param nanos how long that took, in nanoseconds of the engine's clock
     */
    record GrammarCompiled(ObservedRequest request, long nanos) implements RequestEvent {}

    /** The prompt has been tokenized. */
    record Tokenized(ObservedRequest request) implements RequestEvent {}

    /**
     * The request is part of a step for the first time on its replica, on the engine's thread; again on another replica
     * if that one fails.
     */
    record Admitted(ObservedRequest request) implements RequestEvent {}

    /** The request has ended. Its reader is notified after all observers, and so finds the request counted. */
    record Ended(ObservedRequest request, FinishReason reason) implements RequestEvent {}
}
