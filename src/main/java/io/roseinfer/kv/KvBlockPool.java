package io.roseinfer.kv;

import io.roseinfer.base.Check;
import org.jspecify.annotations.Nullable;

/**
 * Reference counts of a fixed number of KV blocks. A block is free, held (its count is the number of tables that list it), or
 * cached: held by nobody, but its contents are known to the {@link PrefixCache} and may be taken up again. Cached blocks are
 * given out, least recently used first, when no block is free.
 *
 * <p>All operations are O(1) and allocate nothing.
 */
public final class KvBlockPool {
    /** The answer of {@link #allocate} when every block is held. */
    public static final int NONE = -1;

    private final int[] references;
    private final int[] free;
    private final PrefixCache cache;
    private int freeCount;

    /**
     * A pool of free blocks.
     *
     * @param blocks how many; ids are 0 to {@code blocks - 1}
     * @param blockSize tokens per block
     * @param cachePrefixes whether full blocks are remembered after their last holder lets go
     */
    public KvBlockPool(int blocks, int blockSize, boolean cachePrefixes) {
        this(blocks, blockSize, cachePrefixes, null);
    }

    /**
     * A pool of free blocks.
     *
     * @param published is told what full blocks are remembered; null if nobody asks
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

    /** Contents of the pool's blocks. */
    public PrefixCache cache() {
        return cache;
    }

    public int blocks() {
        return references.length;
    }

    public int blockSize() {
        return cache.blockSize();
    }

    /** Blocks that {@link #allocate} can still give out: free ones and cached ones. */
    public int available() {
        return freeCount + cache.idleCount();
    }

    /** Blocks held by nobody whose contents are kept. */
    public int cached() {
        return cache.idleCount();
    }

    /** Blocks that at least one table lists. */
    public int held() {
        return references.length - available();
    }

    /** Gives out a block with a count of one, or {@link #NONE}. What it contains is undefined. */
    public int allocate() {
        int block;
        if (freeCount > 0) {
            block = free[--freeCount];
        } else {
            block = cache.evictOldest();
            if (block == NONE) {
                return NONE;
            }
        }
        references[block] = 1;
        return block;
    }

    /** Adds a holder to a block that is held or cached. */
    public void retain(int block) {
        Check.index(block, references.length, "block");
        if (references[block]++ == 0) {
            cache.takeUp(block);
        }
    }

    /** Removes a holder; the block becomes cached or free when it was the last. */
    public void release(int block) {
        Check.index(block, references.length, "block");
        Check.that(references[block] > 0, "block %d is released with count %d", block, references[block]);
        if (--references[block] == 0 && !cache.layDown(block)) {
            free[freeCount++] = block;
        }
    }

    /** Number of tables that list the block. */
    public int references(int block) {
        return references[block];
    }

    /**
     * Walks everything and fails if the books do not balance: every reference must come from one of these tables.
     *
     * @param tables the tables of all sequences there are
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
                    "block %d has %d references more than tables that list it",
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
            Check.that(references[free[i]] == 0 && !cache.knows(free[i]), "a free block is held or cached");
        }
    }
}
