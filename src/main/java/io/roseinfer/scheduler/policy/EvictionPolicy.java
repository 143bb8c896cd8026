package io.roseinfer.scheduler.policy;

/**
 * Chooses which cached KV block is evicted if a request needs one and none is free. A block is cached if it is full and
 * no request holds it; a request with the same prefix can reuse it.
 *
 * <p>The block with the lowest rank is evicted first, the least recently released one on a tie. A block that another
 * cached one continues is never evicted before that one, whatever their ranks, because the rest of a prefix is useless
 * without its start.
 *
 * <p>May keep state, and implement {@link RequestEvents} to update it; one object serves one engine. Called by one
 * thread at a time even if several replicas share it, often in a row for the blocks of one request. It should not
 * allocate. If it throws, the engine stops before its next step, with an error that names the policy.
 */
@FunctionalInterface
public interface EvictionPolicy {
    /**
     * Returns the rank of a block that its last request has released; lower is evicted earlier. It is kept until a
     * request has reused and released the block. A request releases its last block first, after
     * {@link RequestEvents#ended} or {@link RequestEvents#preempted}.
     *
     * @param queue the state of the releasing scheduler, with the time of the step planned last
     */
    long rank(CachedBlock block, QueueView queue);

    /**
     * Notifies that a block was evicted because a request needed one. The rank of the last evicted block is the clock of GreedyDual and of
     * LFU with dynamic ageing.
     */
    default void evicted(long rank) {}

    /** Returns the policy that evicts the least recently used block, in constant time. */
    static EvictionPolicy lru() {
        return Lru.INSTANCE;
    }

    /** {@link #lru}. */
    enum Lru implements EvictionPolicy {
        INSTANCE;

        @Override
        public long rank(CachedBlock block, QueueView queue) {
            return 0;
        }

        @Override
        public String toString() {
            return "lru";
        }
    }
}
