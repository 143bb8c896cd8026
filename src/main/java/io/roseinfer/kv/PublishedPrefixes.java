package io.roseinfer.kv;

import io.roseinfer.base.SplitMix64;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The hashes of the prefixes that one pool has cached, for other threads to read. Only the thread that owns the cache
 * writes; readers never block. A prefix is identified by a 64-bit hash of all its tokens, so a collision can make an
 * uncached prefix look cached. That only affects routing, never the keys and values a request uses.
 *
 * <p>The set uses open addressing without tombstones: a hash is stored in the first free of the {@value #WINDOW}
 * entries that start at its own index, and a lookup scans all of them.
 */
public final class PublishedPrefixes {
    /** The hash of the empty prefix; also the multiplier of a block's tokens. */
    public static final long ROOT = 0x9e3779b97f4a7c15L;

    /** Entries that a hash may occupy. At a load of at most 25 %, all of them are taken once in billions of cases. */
    private static final int WINDOW = 16;

    private static final long FREE = 0;

    private static final VarHandle ENTRY = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] entries;
    private final int mask;
    private @Nullable Changes changes;

    /** Is notified of each change, by the cache's thread and after the change. */
    interface Changes {
        void added(long hash);

        void removed(long hash);
    }

    /** Creates an empty set, large enough for the prefixes of {@code blocks} blocks. */
    public PublishedPrefixes(int blocks) {
        int size = Math.max(WINDOW, Integer.highestOneBit(Math.min(blocks, 1 << 26)) * 8);
        entries = new long[size];
        mask = size - 1;
    }

    private PublishedPrefixes(int size, int mask) {
        this.entries = new long[size];
        this.mask = mask;
    }

    /** Sets who is notified of changes. Called before the first one. */
    void observe(Changes observer) {
        changes = observer;
    }

    /** Returns an empty set of the same size. */
    PublishedPrefixes emptyCopy() {
        return new PublishedPrefixes(entries.length, mask);
    }

    /** Returns the hash of a prefix that is extended by one block. */
    static long extend(long before, int[] tokens, int from, int blockSize) {
        // The sums of several blocks are computed at the same time; only the mix waits for the block before.
        long block = 0;
        for (int i = from; i < from + blockSize; i++) {
            block = block * ROOT + tokens[i];
        }
        long hash = SplitMix64.mix(before + block);
        return hash == FREE ? 1 : hash;
    }

    /**
     * Returns the hashes of a prompt's prefixes of one block, two blocks and so on, without the block of the last
     * token, which is never taken from the cache.
     */
    public static long[] prefixHashes(int[] prompt, int blockSize) {
        long[] hashes = new long[Math.max(0, prompt.length - 1) / blockSize];
        long hash = ROOT;
        for (int i = 0; i < hashes.length; i++) {
            hash = extend(hash, prompt, i * blockSize, blockSize);
            hashes[i] = hash;
        }
        return hashes;
    }

    /**
     * Returns how many of these prefixes are cached, where each extends the one before it by one block. Any thread may
     * call this; it allocates no memory.
     */
    public int countKnown(long[] prefixes) {
        int known = 0;
        while (known < prefixes.length && indexOf(prefixes[known], prefixes[known]) >= 0) {
            known++;
        }
        return known;
    }

    /** Adds a prefix, also if it is present; drops it if the window is full. Called by the cache's thread. */
    void add(long hash) {
        int index = indexOf(hash, FREE);
        if (index >= 0) {
            ENTRY.setRelease(entries, index, hash);
        }
        if (changes != null) {
            changes.added(hash);
        }
    }

    /** Removes one occurrence of a prefix. Called by the cache's thread. */
    void remove(long hash) {
        int index = indexOf(hash, hash);
        if (index >= 0) {
            ENTRY.setRelease(entries, index, FREE);
        }
        if (changes != null) {
            changes.removed(hash);
        }
    }

    /** Returns the first entry of a hash's window that contains {@code wanted}, or -1. */
    private int indexOf(long hash, long wanted) {
        for (int i = 0; i < WINDOW; i++) {
            int at = ((int) hash + i) & mask;
            if ((long) ENTRY.getAcquire(entries, at) == wanted) {
                return at;
            }
        }
        return -1;
    }
}
