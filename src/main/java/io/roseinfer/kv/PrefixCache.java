package io.roseinfer.kv;

import io.roseinfer.base.Check;
import io.roseinfer.base.SplitMix64;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What full blocks contain, so that a sequence which begins with the same tokens can share them. An entry is a block, its tokens
 * and the entry it follows; a match walks from the start of the prompt, block by block.
 *
 * <p>Hashes only find candidates: a hit needs equal tokens and the same predecessor, so a collision is a miss and never a wrong
 * answer. A predecessor is named by a serial number that is never used twice, so an entry whose predecessor was evicted can no
 * longer be reached, whatever the predecessor's block holds by then.
 *
 * <p>Entries nobody holds are idle, in order of release; a sequence releases its last block first, so an entry is idle at least
 * as long as the ones it follows and is evicted before them.
 */
final class PrefixCache {
    /** The predecessor of a prompt's first block. */
    static final long ROOT = 0;

    private static final int NONE = KvBlockPool.NONE;

    private final int blockSize;
    private final int[] contents;
    private final long[] serials;
    private final long[] predecessors;
    private final int[] buckets;
    private final int[] chain;
    private final IdleBlocks idle;
    private final @Nullable PublishedPrefixes published;
    /** Of each block that was made known, the hash of its tokens and of all before them; only where they are published. */
    private final long[] hashes;

    private long nextSerial = ROOT + 1;

    /**
     * An empty cache.
     *
     * @param blocks blocks of the pool; 0 switches the cache off
     * @param published is kept up to date with what the cache knows; null if nobody asks
     */
    PrefixCache(int blocks, int blockSize, @Nullable PublishedPrefixes published) {
        this.published = published;
        this.hashes = new long[published == null ? 0 : blocks];
        this.blockSize = blockSize;
        contents = new int[Math.multiplyExact(blocks, blockSize)];
        serials = new long[blocks];
        predecessors = new long[blocks];
        buckets = new int[Integer.highestOneBit(Math.max(1, blocks)) * 2];
        Arrays.fill(buckets, NONE);
        chain = new int[blocks];
        idle = new IdleBlocks(blocks);
    }

    int blockSize() {
        return blockSize;
    }

    int idleCount() {
        return idle.size();
    }

    boolean knows(int block) {
        return block < serials.length && serials[block] != ROOT;
    }

    /**
     * Finds the block whose contents follow a known prefix.
     *
     * @param predecessor the serial of the prefix's last block, {@link #ROOT} at the start
     * @param tokens where the prompt stands
     * @param from index of the first of the block's tokens
     * @return the block, or {@link KvBlockPool#NONE}
     */
    int find(long predecessor, int[] tokens, int from) {
        if (serials.length == 0) {
            return NONE;
        }
        int block = buckets[bucket(predecessor, tokens, from)];
        while (block != NONE && !matches(block, predecessor, tokens, from)) {
            block = chain[block];
        }
        return block;
    }

    long serial(int block) {
        return serials[block];
    }

    /**
     * Remembers the contents of a full block, unless equal contents are known already.
     *
     * @return the serial by which the next block names its predecessor
     */
    long publish(int block, long predecessor, int[] tokens, int from) {
        if (serials.length == 0) {
            return ROOT;
        }
        int known = find(predecessor, tokens, from);
        if (known != NONE) {
            return serials[known];
        }
        Check.that(serials[block] == ROOT, "a block is published twice");
        System.arraycopy(tokens, from, contents, block * blockSize, blockSize);
        serials[block] = nextSerial++;
        predecessors[block] = predecessor;
        int bucket = bucket(predecessor, tokens, from);
        chain[block] = buckets[bucket];
        buckets[bucket] = block;
        return serials[block];
    }

    /**
     * Tells other threads of a block that has just been published; nobody, unless somebody asks.
     *
     * @param previous the block before it, or {@link KvBlockPool#NONE}
     */
    void advertise(int block, int previous, int[] tokens, int from) {
        if (published == null || serials.length == 0) {
            return;
        }
        long before = previous == NONE ? PublishedPrefixes.ROOT : hashes[previous];
        hashes[block] = PublishedPrefixes.after(before, tokens, from, blockSize);
        if (knows(block)) {
            published.add(hashes[block]);
        }
    }

    /** Notes that nobody holds the block any more; false if its contents are not known, and the block is simply free. */
    boolean layDown(int block) {
        if (!knows(block)) {
            return false;
        }
        idle.addNewest(block);
        return true;
    }

    /** Notes that an idle block is held again. */
    void takeUp(int block) {
        Check.that(knows(block), "a free block is retained");
        idle.remove(block);
    }

    /** Forgets the block that has been idle longest and returns it, or {@link KvBlockPool#NONE}. */
    int evictOldest() {
        int block = idle.oldest();
        if (block != NONE) {
            idle.remove(block);
            forget(block);
        }
        return block;
    }

    private void forget(int block) {
        if (published != null) {
            published.remove(hashes[block]);
        }
        int bucket = bucket(predecessors[block], contents, block * blockSize);
        if (buckets[bucket] == block) {
            buckets[bucket] = chain[block];
        } else {
            int before = buckets[bucket];
            while (chain[before] != block) {
                before = chain[before];
            }
            chain[before] = chain[block];
        }
        serials[block] = ROOT;
    }

    private boolean matches(int block, long predecessor, int[] tokens, int from) {
        int own = block * blockSize;
        return predecessors[block] == predecessor
                && Arrays.equals(contents, own, own + blockSize, tokens, from, from + blockSize);
    }

    private int bucket(long predecessor, int[] tokens, int from) {
        long hash = predecessor;
        for (int i = from; i < from + blockSize; i++) {
            hash = SplitMix64.mix(hash * 31 + tokens[i]);
        }
        return (int) hash & (buckets.length - 1);
    }
}
