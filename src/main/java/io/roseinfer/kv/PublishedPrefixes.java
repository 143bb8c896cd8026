package io.roseinfer.kv;

import io.roseinfer.base.SplitMix64;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The prefixes that one pool's full blocks hold, for other threads to read: the cache's thread writes, any thread asks, nobody waits. A
 * prefix is known by a hash of all its tokens, so a reader needs nothing but the prompt. Of two prompts in 2^64 that look alike one
 * may seem to be known that is not: this says where a request would do well to go, never what its keys and values are.
 *
 * <p>A set of hashes by open addressing without tombstones: a hash is in the first free one of the {@value #WINDOW} places from its own
 * on, and whoever asks looks at all of them.
 */
public final class PublishedPrefixes {
    /** The hash of a prompt's beginning, before its first block. */
    public static final long ROOT = 0x9e3779b97f4a7c15L;

    /** Places that a hash may be in. At a load of a quarter at most, all of them are taken once in billions of times. */
    private static final int WINDOW = 16;

    private static final long FREE = 0;

    private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] places;
    private final int mask;

    /** Room for the prefixes of so many blocks. */
    public PublishedPrefixes(int blocks) {
        int size = Math.max(WINDOW, Integer.highestOneBit(Math.min(blocks, 1 << 26)) * 8);
        places = new long[size];
        mask = size - 1;
    }

    /** The hash of a prefix that is one block longer than one whose hash is known. */
    static long after(long before, int[] tokens, int from, int blockSize) {
        long hash = before;
        for (int i = from; i < from + blockSize; i++) {
            hash = SplitMix64.mix(hash * 31 + tokens[i]);
        }
        return hash == FREE ? 1 : hash;
    }

    /**
     * The hashes of a prompt's prefixes, of one block, two, and so on, as far as a cache can have them: its last token is never taken from
     * there.
     */
    public static long[] of(int[] prompt, int blockSize) {
        long[] hashes = new long[Math.max(0, prompt.length - 1) / blockSize];
        long hash = ROOT;
        for (int i = 0; i < hashes.length; i++) {
            hash = after(hash, prompt, i * blockSize, blockSize);
            hashes[i] = hash;
        }
        return hashes;
    }

    /** How many of these prefixes are known, each one block longer than the one before it. Any thread; allocates nothing. */
    public int known(long[] prefixes) {
        int known = 0;
        while (known < prefixes.length && place(prefixes[known], prefixes[known]) >= 0) {
            known++;
        }
        return known;
    }

    /** Adds a prefix, once more if it is there; one that finds no place is left out. For the cache's thread. */
    void add(long hash) {
        int place = place(hash, FREE);
        if (place >= 0) {
            PLACE.setRelease(places, place, hash);
        }
    }

    /** Takes a prefix out, once. For the cache's thread. */
    void remove(long hash) {
        int place = place(hash, hash);
        if (place >= 0) {
            PLACE.setRelease(places, place, FREE);
        }
    }

    /** The first of a hash's places that holds {@code wanted}, or -1. */
    private int place(long hash, long wanted) {
        for (int i = 0; i < WINDOW; i++) {
            int at = ((int) hash + i) & mask;
            if ((long) PLACE.getAcquire(places, at) == wanted) {
                return at;
            }
        }
        return -1;
    }
}
