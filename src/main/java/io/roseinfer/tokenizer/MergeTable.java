package io.roseinfer.tokenizer;

import io.roseinfer.base.Check;
import java.util.Arrays;

/**
 * The merges of a BPE model by pair of ids, with their rank. An open-addressing table of primitives; read-only after
 * loading.
 */
final class MergeTable {
    /** The rank of a pair that does not merge; above every real rank. */
    static final int NO_MERGE = Integer.MAX_VALUE;

    private static final long EMPTY = -1;

    private final long[] pairs;
    private final int[] ranks;
    private final int[] merged;
    private int size;

    /** Creates an empty table for at most {@code capacity} merges. */
    public MergeTable(int capacity) {
        // At most half full, so that probes are short.
        int slots = Integer.highestOneBit(Math.max(1, capacity)) << 2;
        pairs = new long[slots];
        Arrays.fill(pairs, EMPTY);
        ranks = new int[slots];
        merged = new int[capacity];
    }

    /**
     * Adds the next merge, with a rank after all before it. A pair that exists gets the new rank and result, as in
     * Hugging Face {@code tokenizers}.
     *
     * @return whether the pair is new
     */
    public boolean add(int left, int right, int result) {
        Check.that(size < merged.length, "more merges than the table's capacity");
        int slot = slot(left, right);
        boolean isNew = pairs[slot] == EMPTY;
        pairs[slot] = pair(left, right);
        ranks[slot] = size;
        merged[size++] = result;
        return isNew;
    }

    /** Returns the rank of a pair, lowest first, or {@link #NO_MERGE}. */
    int rank(int left, int right) {
        int slot = slot(left, right);
        return pairs[slot] == EMPTY ? NO_MERGE : ranks[slot];
    }

    /** Returns the id that the merge of this rank produces. */
    int merged(int rank) {
        return merged[rank];
    }

    private int slot(int left, int right) {
        long pair = pair(left, right);
        int mask = pairs.length - 1;
        int slot = (int) ((pair * 0x9E3779B97F4A7C15L) >>> 32) & mask;
        while (pairs[slot] != EMPTY && pairs[slot] != pair) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private static long pair(int left, int right) {
        return ((long) left << 32) | right;
    }
}
