package io.roseinfer.kv;

import io.roseinfer.base.Check;
import io.roseinfer.base.SplitMix64;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The contents of full blocks, so that sequences with a common prefix can share them. An entry is a block, its tokens
 * and its predecessor; a lookup walks from the start of the prompt, block by block.
 *
 * <p>Hashes only find candidates: a hit needs equal tokens and the same predecessor, so a collision is a miss and never
 * a wrong answer. Predecessors are identified by serial numbers that are never reused. An entry whose predecessor was
 * evicted can therefore no longer be reached, even after the predecessor's block has been reused.
 *
 * <p>Unreferenced entries are kept in the order of their eviction: LRU, or by {@link RankedBlocks}. A sequence releases
 * its last block first, so an entry is evicted before the entries it follows.
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
    private final int[] bucketOf;
    private final int[] chain;
    private IdleBlocks idle;
    private @Nullable RankedBlocks ranked;
    private final @Nullable PublishedPrefixes published;
    /**
     * For each published block, the hash of its tokens and of all tokens before them; empty without {@link #published}.
     */
    private final long[] hashes;

    private long nextSerial = ROOT + 1;

    /**
     * Creates an empty cache.
     *
     * @param blocks the number of blocks in the pool; 0 disables the cache
     * @param published receives the hashes of all cached prefixes; null to publish none
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
        bucketOf = new int[blocks];
        chain = new int[blocks];
        idle = new LruList(blocks);
    }

    /** Evicts by rank from now on; nothing may be cached. Without a cache it has no effect. */
    RankedBlocks rank() {
        Check.that(nextSerial == ROOT + 1, "a cache in use gets ranks");
        ranked = new RankedBlocks(this, serials.length);
        idle = ranked;
        return ranked;
    }

    int blockSize() {
        return blockSize;
    }

    int idleCount() {
        return idle.size();
    }

    boolean contains(int block) {
        return block < serials.length && serials[block] != ROOT;
    }

    /**
     * Finds the block that continues a cached prefix.
     *
     * @param predecessor the serial of the prefix's last block, or {@link #ROOT} at the start
     * @param tokens the prompt
     * @param from index of the block's first token
     * @return the block, or {@link KvBlockPool#NONE}
     */
    int find(long predecessor, int[] tokens, int from) {
        if (serials.length == 0) {
            return NONE;
        }
        return find(bucket(predecessor, tokens, from), predecessor, tokens, from);
    }

    private int find(int bucket, long predecessor, int[] tokens, int from) {
        int block = buckets[bucket];
        while (block != NONE && !matches(block, predecessor, tokens, from)) {
            block = chain[block];
        }
        return block;
    }

    long serial(int block) {
        return serials[block];
    }

    /** Returns the block that an entry continues, or {@link KvBlockPool#NONE} if that is the start or was evicted. */
    int predecessor(int block) {
        long serial = predecessors[block];
        int previous = (int) (serial % serials.length);
        return serial != ROOT && serials[previous] == serial ? previous : NONE;
    }

    /**
     * Adds a full block to the cache, unless an entry with equal contents exists.
     *
     * @return the serial of the entry, which identifies it as a predecessor
     */
    long publish(int block, long predecessor, int[] tokens, int from) {
        if (serials.length == 0) {
            return ROOT;
        }
        int bucket = bucket(predecessor, tokens, from);
        int known = find(bucket, predecessor, tokens, from);
        if (known != NONE) {
            return serials[known];
        }
        Check.that(serials[block] == ROOT, "a block is published twice");
        System.arraycopy(tokens, from, contents, block * blockSize, blockSize);
        serials[block] = nextSerial++ * serials.length + block; // never reused, and names the block
        predecessors[block] = predecessor;
        bucketOf[block] = bucket;
        chain[block] = buckets[bucket];
        buckets[bucket] = block;
        return serials[block];
    }

    /**
     * Publishes the hash of a block's prefix for other threads, if enabled.
     *
     * @param previous the preceding block, or {@link KvBlockPool#NONE}
     */
    void advertise(int block, int previous, int[] tokens, int from) {
        if (published == null || serials.length == 0) {
            return;
        }
        long before = previous == NONE ? PublishedPrefixes.ROOT : hashes[previous];
        hashes[block] = PublishedPrefixes.extend(before, tokens, from, blockSize);
        if (contains(block)) {
            published.add(hashes[block]);
        }
    }

    /** Makes an unreferenced block evictable; returns false if it is not cached, so that it is free. */
    boolean addIdle(int block) {
        if (!contains(block)) {
            return false;
        }
        idle.add(block);
        return true;
    }

    /** Protects a block from eviction because it is referenced again. */
    void removeIdle(int block) {
        Check.that(contains(block), "a free block is retained");
        idle.remove(block);
    }

    /** Evicts the next unreferenced block and returns it, or {@link KvBlockPool#NONE} if there is none. */
    int evict() {
        int block = idle.first();
        if (block != NONE) {
            idle.remove(block);
            forget(block);
        }
        return block;
    }

    private void forget(int block) {
        if (ranked != null) {
            ranked.forget(block);
        }
        if (published != null) {
            published.remove(hashes[block]);
        }
        int bucket = bucketOf[block];
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
        // The products of a block's tokens do not wait for a mix each; one at the end spreads them.
        long hash = predecessor;
        for (int i = from; i < from + blockSize; i++) {
            hash = hash * PublishedPrefixes.ROOT + tokens[i];
        }
        return (int) SplitMix64.mix(hash) & (buckets.length - 1);
    }
}
