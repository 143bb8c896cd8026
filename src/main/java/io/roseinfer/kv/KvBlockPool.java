package io.roseinfer.kv;

import io.roseinfer.base.Check;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of reference-counted KV blocks. A block is either held (listed by as many tables as its count), cached
 * or free. A cached block is unreferenced but reusable through the {@link PrefixCache}; if no block is free, the least
 * recently used one is evicted, or the one with the lowest of the {@link Ranks}.
 *
 * <p>All operations are O(1), with ranks O(log n), and allocate no memory.
 */
public final class KvBlockPool {
    /** Returned by {@link #allocate} if every block is held. */
    public static final int NONE = -1;

    private final int[] references;
    private final int[] free;
    private final PrefixCache cache;
    private int freeCount;
    private @Nullable Ranks ranks;
    private @Nullable RankedBlocks ranked;

    /** Ranks cached blocks for eviction. */
    @FunctionalInterface
    public interface Ranks {
        /**
         * Returns the rank of a block that the last table with it releases; lower is evicted earlier.
         *
         * @param hits how many tables have reused it
         */
        long rank(BlockTable table, int index, int hits);

        /** Notes that {@link KvBlockPool#allocate} evicted a block of this rank. */
        default void evicted(long rank) {}
    }

    /**
     * Creates a pool of free blocks.
     *
     * @param blocks the number of blocks; their ids are 0 to {@code blocks - 1}
     * @param blockSize tokens per block
     * @param cachePrefixes whether full blocks stay cached after their last reference is released
     */
    public KvBlockPool(int blocks, int blockSize, boolean cachePrefixes) {
        this(blocks, blockSize, cachePrefixes, null);
    }

    /**
     * Creates a pool of free blocks.
     *
     * @param published receives the hashes of all cached prefixes; null to publish none
     */
    public KvBlockPool(int blocks, int blockSize, boolean cachePrefixes, @Nullable PublishedPrefixes published) {
        Check.that(blocks >= 1 && blockSize >= 1, "pool of %d blocks of %d tokens", blocks, blockSize);
        references = new int[blocks];
        free = new int[blocks];
        for (int i = 0; i < blocks; i++) {
            free[i] = blocks - 1 - i;
        }
        freeCount = blocks;
        cache = new PrefixCache(cachePrefixes ? blocks : 0, blockSize, published);
    }

    /** Evicts by rank instead of LRU; must be called before the first allocation. */
    public void setRanks(Ranks next) {
        ranked = cache.rank();
        ranks = next;
    }

    PrefixCache cache() {
        return cache;
    }

    public int blocks() {
        return references.length;
    }

    public int blockSize() {
        return cache.blockSize();
    }

    /** Returns the number of blocks that {@link #allocate} can return: free and cached ones. */
    public int available() {
        return freeCount + cache.idleCount();
    }

    /** Returns the number of cached blocks that no table lists. */
    public int cached() {
        return cache.idleCount();
    }

    /** Returns the number of blocks that at least one table lists. */
    public int held() {
        return references.length - available();
    }

    /** Returns a block with a count of one and undefined contents, or {@link #NONE}. */
    public int allocate() {
        int block;
        if (freeCount > 0) {
            block = free[--freeCount];
        } else {
            block = cache.evict();
            if (block == NONE) {
                return NONE;
            }
            if (ranks != null && ranked != null) {
                ranks.evicted(ranked.rank(block));
            }
        }
        references[block] = 1;
        return block;
    }

    /** Adds a reference to a held or cached block. */
    public void retain(int block) {
        Check.index(block, references.length, "block");
        if (references[block]++ == 0) {
            cache.removeIdle(block);
        }
        if (ranked != null) {
            ranked.addHits(block, 1);
        }
    }

    /** Removes the reference of {@link #retain} as if it had never been added, so that the rank stays the same. */
    void putBack(int block) {
        if (ranked != null) {
            ranked.addHits(block, -1);
        }
        release(block);
    }

    /** Asks for the rank of a block that a table is about to release, if that is its last reference and it is cached. */
    void rank(BlockTable table, int index) {
        int block = table.block(index);
        if (ranks != null && ranked != null && references[block] == 1 && cache.contains(block)) {
            ranked.setRank(block, ranks.rank(table, index, ranked.hits(block)));
        }
    }

    /** Removes a reference; after the last one the block is cached or free. */
    public void release(int block) {
        Check.index(block, references.length, "block");
        Check.that(references[block] > 0, "block %d is released with count %d", block, references[block]);
        if (--references[block] == 0 && !cache.addIdle(block)) {
            free[freeCount++] = block;
        }
    }

    /** Frees all cached blocks that no table lists. */
    public void evictAll() {
        for (int block = cache.evict(); block != NONE; block = cache.evict()) {
            free[freeCount++] = block;
        }
    }

    /** Returns the number of tables that list the block. */
    public int references(int block) {
        return references[block];
    }

    /**
     * Checks that every reference belongs to one of the given tables and that every block is held, cached or free.
     *
     * @param tables the tables of all sequences
     */
    public void check(Iterable<BlockTable> tables) {
        int[] expected = new int[references.length];
        for (BlockTable table : tables) {
            for (int i = 0; i < table.size(); i++) {
                expected[table.block(i)]++;
            }
        }
        int held = 0;
        for (int block = 0; block < references.length; block++) {
            Check.that(
                    expected[block] == references[block],
                    "block %d has %d more references than tables",
                    block,
                    references[block] - expected[block]);
            held += references[block] > 0 ? 1 : 0;
        }
        Check.that(
                held + freeCount + cache.idleCount() == references.length,
                "%d blocks held and %d available",
                held,
                available());
        for (int i = 0; i < freeCount; i++) {
            Check.that(references[free[i]] == 0 && !cache.contains(free[i]), "a free block is held or cached");
        }
    }
}
