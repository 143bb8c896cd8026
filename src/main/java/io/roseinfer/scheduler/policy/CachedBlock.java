package io.roseinfer.scheduler.policy;

/** A KV block that its last request releases, as an {@link EvictionPolicy} sees it. Valid only during the call it is passed to. */
public interface CachedBlock {
    /** Returns the request that releases it; a {@link WaitingRequest} if that was preempted and will run again. */
    PolicyRequest request();

    /** Returns the number of tokens of its prefix, before the tokens of the block itself. */
    int tokensBefore();

    /** Returns how many admitted requests have reused it since it was computed. */
    int hits();
}
