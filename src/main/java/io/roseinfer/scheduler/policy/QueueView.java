package io.roseinfer.scheduler.policy;

/**
 * The state of the scheduler that calls a policy. Valid only during the call it is passed to: a view that is kept fails after it, or shows
 * the later state in another call.
 */
public interface QueueView {
    /** Returns the number of the scheduler's replica, from 0. */
    int replica();

    /** Returns the iteration number, counted from one; a strict iteration that is repeated keeps its number. */
    long iteration();

    /**
     * Returns the number of the step being planned, counted from zero over all replicas that share the waiting requests.
     */
    long step();

    /**
     * Returns the time at which the iteration began, in nanoseconds of the engine's clock: {@link System#nanoTime}, or
     * simulated time.
     */
    long nowNanos();

    /**
     * Returns how long the replica's last completed step took, in nanoseconds of the engine's clock: until its results were
     * applied, from the start of its planning, or from the end of the step completed before it if that is later. While steps
     * are in flight, the step planned last is not completed. 0 before the first step is.
     */
    long lastStepNanos();

    /** Returns the number of tokens that the replica's last completed step computed; 0 before the first step is completed. */
    int lastStepTokens();

    /** Returns the number of prompt tokens among {@link #lastStepTokens}. */
    int lastStepPromptTokens();

    /** Returns the number of decode rows of the replica's last completed step. */
    int lastStepDecodeRows();

    /** Returns the number of positions that the tokens of the replica's last completed step attended to. */
    long lastStepAttended();

    /** Returns the number of tokens per KV block. */
    int blockSize();

    /** Returns the number of KV blocks of the pool. */
    int totalBlocks();

    /** Returns the number of KV blocks that can be allocated, including evictable cached ones. */
    int freeBlocks();

    /** Returns the number of requests that hold KV blocks and have not ended. */
    int runningRows();

    /** Returns the number of waiting requests that this scheduler may admit. */
    int waiting();
}
