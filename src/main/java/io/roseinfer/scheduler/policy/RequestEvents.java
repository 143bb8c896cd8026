package io.roseinfer.scheduler.policy;

/**
 * A listener for events of requests, for policies that keep state. An admission, preemption, eviction or step policy that also
 * implements this interface is notified; an object that is several policies is notified once. Other
 * policies that implement it are rejected. Every request that arrives ends once.
 *
 * <p>Called under the lock of the waiting requests, so by one thread at a time, from any thread. Never called during
 * another call of the policy, except that a step policy's {@code admit} and {@code prefill} call {@link #admitted} before
 * they return. Must be quick and should not allocate. If a method throws, the engine stops before its next
 * step, with an error that names the policy.
 */
public interface RequestEvents {
    /** A request began to wait. */
    default void arrived(PolicyRequest request) {}

    /**
     * A waiting request was given KV blocks, for the first time or after a preemption.
     *
     * @param cachedTokens leading tokens that were in the prefix cache
     */
    default void admitted(RunningRequest request, int cachedTokens) {}

    /**
     * The result of a step was applied to a request.
     *
     * @param computedTokens tokens computed by the step, without rejected drafts
     * @param newTokens tokens that the step added to the completion; often 1, and 0 if the prompt is not complete
     */
    default void stepped(RunningRequest request, int computedTokens, int newTokens) {}

    /** A running request lost its KV blocks and waits again: it was preempted, or its replica failed. */
    default void preempted(PolicyRequest request) {}

    /** A request ended, for any reason and in any state. */
    default void ended(PolicyRequest request) {}
}
