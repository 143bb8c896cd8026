package io.roseinfer.scheduler.policy;

/** A request that holds KV blocks, as a {@link PreemptionPolicy} sees it. */
public interface RunningRequest extends PolicyRequest {
    /** Returns the number of KV blocks it holds, including shared ones. */
    int heldBlocks();
}
