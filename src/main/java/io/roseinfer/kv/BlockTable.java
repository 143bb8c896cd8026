package io.roseinfer.kv;

import io.roseinfer.base.Check;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The KV blocks of one sequence, in order: token i is in block {@code i / blockSize} at offset {@code i % blockSize}.
 * The table holds one reference to each of its blocks.
 */
public final class BlockTable {
    private static final int INITIAL_BLOCKS = 16;

    private final int maxTokens;
    private final Object owner;
    private @Nullable KvBlockPool pool;
    private int blockSize = 1;
    /** Block ids; only the first {@link #size} are valid. */
    private int[] blocks;

    private int size;
    private int published;
    private long lastSerial = PrefixCache.ROOT;

    /**
     * Creates an empty table for at most {@code maxTokens} tokens; {@link #setPool} must be called before it can grow.
     *
     * @param owner an object of the caller that {@link #owner} returns
     */
    public BlockTable(int maxTokens, Object owner) {
        this.maxTokens = maxTokens;
        this.owner = owner;
        this.blocks = new int[Math.min(maxTokens, INITIAL_BLOCKS)];
    }

    /** Creates an empty table for at most {@code maxTokens} tokens. */
    public BlockTable(KvBlockPool pool, int maxTokens) {
        this(maxTokens, pool);
        setPool(pool);
    }

    /** Sets the pool that blocks come from; the table must be empty. */
    public void setPool(KvBlockPool next) {
        Check.that(size == 0, "a table with %d blocks gets a new pool of %d", size, next.blocks());
        pool = next;
        blockSize = next.blockSize();
    }

    /** Returns whether {@link #setPool} has been called. */
    public boolean hasPool() {
        return pool != null;
    }

    private KvBlockPool pool() {
        return Objects.requireNonNull(pool);
    }

    public Object owner() {
        return owner;
    }

    public int size() {
        return size;
    }

    public int block(int index) {
        return blocks[index];
    }

    /**
     * Returns the block ids, at least as many as {@code tokens} tokens need. This is the table's own array, so that a
     * step copies it only once, into device memory. Callers must neither modify nor keep it.
     */
    public int[] idsFor(int tokens) {
        Check.that(tokens <= size * blockSize, "%d tokens need more than %d blocks", tokens, size);
        return blocks;
    }

    /** Returns the number of blocks published to the prefix cache. */
    int published() {
        return published;
    }

    /** Returns the number of tokens that fit into the allocated blocks. */
    public int capacity() {
        return size * blockSize;
    }

    /** Returns how many more blocks are needed for {@code tokens} tokens. */
    public int missingBlocks(int tokens) {
        // Called for every row of every step, almost always without anything missing: skip the division.
        return tokens <= size * blockSize ? 0 : Math.ceilDiv(tokens, blockSize) - size;
    }

    /**
     * Allocates blocks until {@code tokens} tokens fit.
     *
     * @return whether they fit; if not, the pool is exhausted and the table keeps what it could allocate
     */
    public boolean grow(int tokens) {
        for (int missing = missingBlocks(tokens); missing > 0; missing--) {
            int block = pool().allocate();
            if (block == KvBlockPool.NONE) {
                return false;
            }
            add(block);
        }
        return true;
    }

    private void add(int block) {
        if (size == blocks.length) {
            blocks = Arrays.copyOf(blocks, Math.min(Math.ceilDiv(maxTokens, blockSize), 2 * size));
        }
        blocks[size++] = block;
    }

    /**
     * Adds the cached blocks of the longest known prefix of a prompt; the table must be empty. The last token of the
     * prompt is always computed, because its logits give the next token.
     *
     * @return the number of tokens whose keys and values are cached, a multiple of the block size
     */
    public int reuse(int[] tokens, int length) {
        Check.that(size == 0, "only an empty table can reuse cached blocks");
        PrefixCache cache = pool().cache();
        while ((size + 1) * blockSize < length) {
            int block = cache.find(lastSerial, tokens, size * blockSize);
            if (block == KvBlockPool.NONE) {
                break;
            }
            pool().retain(block);
            lastSerial = cache.serial(block);
            add(block);
        }
        published = size;
        return size * blockSize;
    }

    /** Returns the number of tokens that {@link #reuse} would find, without adding any block. */
    public int reusable(int[] tokens, int length) {
        PrefixCache cache = pool().cache();
        long last = PrefixCache.ROOT;
        int found = 0;
        while ((found + 1) * blockSize < length) {
            int block = cache.find(last, tokens, found * blockSize);
            if (block == KvBlockPool.NONE) {
                break;
            }
            last = cache.serial(block);
            found++;
        }
        return found * blockSize;
    }

    /** Returns whether all blocks of this table, which are cached, are exactly what the other table has published. */
    public boolean matchesPublishedPrefixOf(BlockTable other) {
        return size == other.published && lastSerial == other.lastSerial;
    }

    /**
     * Publishes blocks that have become full to the prefix cache.
     *
     * @param computed the number of tokens whose keys and values have been computed
     */
    public void publish(int[] tokens, int computed) {
        while ((published + 1) * blockSize <= computed) {
            int block = blocks[published];
            lastSerial = pool().cache().publish(block, lastSerial, tokens, published * blockSize);
            int previous = published == 0 ? KvBlockPool.NONE : blocks[published - 1];
            pool().cache().advertise(block, previous, tokens, published * blockSize);
            published++;
        }
    }

    /**
     * Releases the blocks that the first {@code tokens} tokens do not need, the last one first. None of them may be
     * published.
     */
    public void shrink(int tokens) {
        int kept = Math.ceilDiv(tokens, blockSize);
        Check.that(published <= kept, "%d blocks are published, %d to be kept", published, kept);
        while (size > kept) {
            pool().release(blocks[--size]);
        }
    }

    /** Releases all blocks, the last one first; those that stay cached get new ranks. */
    public void release() {
        for (int last = size - 1; last >= 0; last--) {
            pool().rank(this, last);
            pool().release(blocks[last]);
        }
        clear();
    }

    /** Releases the blocks that {@link #reuse} has added, the last one first; they keep their ranks. */
    public void putBack() {
        for (int last = size - 1; last >= 0; last--) {
            pool().putBack(blocks[last]);
        }
        clear();
    }

    private void clear() {
        size = 0;
        published = 0;
        lastSerial = PrefixCache.ROOT;
    }
}
