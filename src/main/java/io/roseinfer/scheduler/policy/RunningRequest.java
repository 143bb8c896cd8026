package io.roseinfer.scheduler.policy;

import java.util.Optional;

/** A request that holds KV blocks, as a {@link PreemptionPolicy} sees it. */
public interface RunningRequest {

    long id();

    /** Place in the order of arrival, counted from zero. */
    long arrival();

    /** The caller's priority, higher is more urgent; 0 unless given. */
    int priority();

    /** The caller's own object. */
    Optional<Object> tag();

    /** Tokens of the prompt. */
    int promptLength();

    /** Tokens known so far: the prompt and what has been generated. It recomputes all of them if it starts over. */
    int length();

    /** Most tokens it may still generate. */
    int remainingNewTokens();

    /** KV blocks it holds, shared ones included. */
    int heldBlocks();

    /** How often it had to give its blocks back and start over. */
    int preemptions();
}
