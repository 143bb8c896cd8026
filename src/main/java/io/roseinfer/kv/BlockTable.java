package io.roseinfer.kv;

import io.roseinfer.base.Check;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that hold one sequence's keys and values, in order: token i is in block {@code i / blockSize} at offset
 * {@code i % blockSize}. Every listed block is held once by this table.
 */
public final class BlockTable {
    private static final int FIRST_BLOCKS = 16;

    private final int maxTokens;
    private @Nullable KvBlockPool pool;
    private int blockSize = 1;
    /** The ids, with room for more: it grows with the sequence. */
    private int[] blocks;

    private int size;
    private int published;
    private long lastSerial = PrefixCache.ROOT;

    /** An empty table for at most {@code maxTokens} tokens, which has no pool yet. */
    public BlockTable(int maxTokens) {
        this.maxTokens = maxTokens;
        this.blocks = new int[Math.min(maxTokens, FIRST_BLOCKS)];
    }

    /** An empty table for at most {@code maxTokens} tokens. */
    public BlockTable(KvBlockPool pool, int maxTokens) {
        this(maxTokens);
        use(pool);
    }

    /** Takes its blocks from a pool from now on; the table must be empty. */
    public void use(KvBlockPool next) {
        Check.that(size == 0, "a table with %d blocks moves to a pool of %d", size, next.blocks());
        pool = next;
        blockSize = next.blockSize();
    }

    private KvBlockPool pool() {
        return Objects.requireNonNull(pool);
    }

    /** Number of blocks. */
    public int size() {
        return size;
    }

    public int block(int index) {
        return blocks[index];
    }

    /**
     * The ids of the blocks, enough of them for so many tokens. It is the table's own array, as a step copies it into a device's
     * memory and a copy between the two would cost more than the rest of packing: not to be written to, nor kept.
     */
    public int[] idsFor(int tokens) {
        Check.that(tokens <= size * blockSize, "%d tokens have but %d blocks", tokens, size);
        return blocks;
    }

    /** Tokens that fit the blocks there are. */
    public int capacity() {
        return size * blockSize;
    }

    /** Blocks that must be allocated before the table has room for this many tokens. */
    public int missing(int tokens) {
        // Asked of every row of every step, and nearly always there is room: a division would be most of it.
        return tokens <= size * blockSize ? 0 : Math.ceilDiv(tokens, blockSize) - size;
    }

    /**
     * Allocates blocks until {@code tokens} tokens fit.
     *
     * @return whether they do; if not, the table has all the blocks there were
     */
    public boolean grow(int tokens) {
        for (int missing = missing(tokens); missing > 0; missing--) {
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
     * Takes up the cached blocks a prompt begins with; the table must be empty. The prompt's last token is never taken from the
     * cache, because computing it is what yields the next one.
     *
     * @return tokens whose keys and values are there already, a multiple of the block size
     */
    public int reuse(int[] tokens, int length) {
        Check.that(size == 0, "only an empty table can take up cached blocks");
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

    /** Tokens that {@link #reuse} would find in the cache, while the table is empty; nothing is taken up. */
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

    /** Whether the cached blocks at the start of this table, all of it, are also what the other table has told the cache about. */
    public boolean continuesLike(BlockTable other) {
        return size == other.published && lastSerial == other.lastSerial;
    }

    /** Tells the prefix cache about blocks that have become full; {@code computed} tokens have their keys and values. */
    public void publish(int[] tokens, int computed) {
        while ((published + 1) * blockSize <= computed) {
            int block = blocks[published];
            lastSerial = pool().cache().publish(block, lastSerial, tokens, published * blockSize);
            int previous = published == 0 ? KvBlockPool.NONE : blocks[published - 1];
            pool().cache().advertise(block, previous, tokens, published * blockSize);
            published++;
        }
    }

    /** Lets go of every block, the last one first. */
    public void release() {
        while (size > 0) {
            pool().release(blocks[--size]);
        }
        published = 0;
        lastSerial = PrefixCache.ROOT;
    }
}
