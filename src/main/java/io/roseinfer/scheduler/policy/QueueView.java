package io.roseinfer.scheduler.policy;

/** The state of the scheduler that ranks the waiting requests; valid during the call it is passed to. */
public interface QueueView {
    /** Number of this iteration, counted from one; a strict one that is repeated keeps its number. */
    long iteration();

    /** Number of the step in the making, counted from zero; the steps of all engines that share the waiting requests count. */
    long step();

    /** KV blocks that can be given out, those the prefix cache would let go of included. */
    int freeBlocks();

    /** Requests that hold KV blocks and have not ended. */
    int runningRows();

    /** Requests that wait and that this scheduler may admit. */
    int waiting();
}
