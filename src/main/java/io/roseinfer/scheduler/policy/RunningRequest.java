package io.roseinfer.scheduler.policy;

import java.util.Optional;

/** A request that holds KV blocks, as a {@link PreemptionPolicy} sees it. */
public interface RunningRequest {

    long id();

    /** Returns its position in the order of arrival, counted from zero. */
    long arrival();

    /** Returns the caller's priority, higher is more urgent; 0 by default. */
    int priority();

    /** Returns the object that the caller attached. */
    Optional<Object> tag();

    /** Returns the number of prompt tokens. */
    int promptLength();

    /** Returns the number of known tokens, prompt and completion. All of them are recomputed if it is preempted. */
    int length();

    /** Returns the maximum number of tokens it may still generate. */
    int remainingNewTokens();

    /** Returns the number of KV blocks it holds, including shared ones. */
    int heldBlocks();

    /** Returns how often it was preempted. */
    int preemptions();
}
