package io.roseinfer.scheduler.policy;

import java.util.Optional;

/**
 * A request as policies see it: a {@link WaitingRequest} or a {@link RunningRequest}, which are equal if their ids are.
 * Policies never see how many tokens the completion will have, only the maximum and the caller's prediction. All methods
 * but {@link WaitingRequest#cachedLength} take constant time and allocate no memory.
 */
public interface PolicyRequest {
    /** {@link #deadlineNanos} of a request without a deadline. */
    long NO_DEADLINE = Long.MAX_VALUE;

    /** {@link #replica} of a request that any replica may admit. */
    int ANY_REPLICA = -1;

    long id();

    /**
     * Returns the number of the replica that admitted it, or of the one that routing chose; {@link #ANY_REPLICA} if any may
     * admit it. {@link RequestEvents#preempted} gets the replica that it ran on, even if that failed.
     */
    int replica();

    /** Returns its position in the order of arrival over all replicas, counted from zero. */
    long arrival();

    /** Returns the time of its submission, in nanoseconds of the engine's clock, like {@link QueueView#nowNanos}. */
    long arrivalNanos();

    /**
     * Returns the number of steps that had been planned when it arrived; {@link QueueView#step} minus this is its age.
     */
    long arrivalStep();

    /**
     * Returns when the request should be complete, in nanoseconds of the engine's clock: the caller's deadline, which ends
     * it, or target, whichever is earlier; {@link #NO_DEADLINE} if there is neither.
     */
    long deadlineNanos();

    /** Returns the caller's priority, higher is more urgent; 0 by default. */
    int priority();

    /** Returns the user or group that the request belongs to; empty by default. */
    String tenant();

    /** Returns the object that the caller attached. */
    Optional<Object> tag();

    /** Returns the number of prompt tokens. */
    int promptLength();

    /** Returns the number of known tokens, prompt and completion. All of them are recomputed after a preemption. */
    int length();

    /** Returns the maximum number of tokens it may still generate. */
    int remainingNewTokens();

    /**
     * Returns how many tokens the caller predicts for the whole completion; the maximum if there is no prediction.
     */
    int predictedNewTokens();

    /** Returns how often it was preempted. */
    int preemptions();
}
