package io.roseinfer.kv;

/** The unreferenced cached blocks, in the order of their eviction. */
interface IdleBlocks {
    int size();

    /** Returns the block to evict next, or {@link KvBlockPool#NONE}. */
    int first();

    /** Adds a block that has become unreferenced. */
    void add(int block);

    void remove(int block);
}
