package io.roseinfer.tokenizer;

import io.roseinfer.base.WorkCounter;
import java.util.Arrays;

/**
 * Merges the symbols of one word after another: repeatedly the adjacent pair of the lowest rank, the leftmost on a tie,
 * until no pair merges. Symbols are a linked list and candidate pairs a heap, so a word of n bytes takes O(n log n)
 * instead of the textbook loop's O(n²). Used by one {@code encode} call; not thread-safe.
 */
final class BytePairMerger {
    private static final int GONE = -1;

    private final MergeTable merges;
    private final WorkCounter work;
    private int[] symbols = new int[32];
    private int[] previous = new int[32];
    private int[] next = new int[32];
    private int length;

    /** The unknown symbol to be inserted later, or {@link Symbols#MISSING}. */
    private int pending = Symbols.MISSING;

    /** Candidates as {@code rank << 32 | position}, so the order of the longs is the order of the merges. */
    private final LongHeap candidates = new LongHeap();

    /**
     * Creates a merger with an empty word.
     *
     * @param work counts symbols, pair lookups and candidates, as the measure of work
     */
    public BytePairMerger(MergeTable merges, WorkCounter work) {
        this.merges = merges;
        this.work = work;
    }

    /** Appends a symbol to the word. */
    public void add(int symbol) {
        if (pending != Symbols.MISSING) {
            insertPending();
        }
        append(symbol);
    }

    /**
     * Appends the unknown symbol for one outside the vocabulary. It is inserted before the next known symbol, or at the
     * word's end; bytes added before that ({@link #addByte}) precede it. Hugging Face {@code tokenizers} does the same.
     *
     * @param fused whether it is merged with a pending unknown symbol
     */
    void addUnknown(int symbol, boolean fused) {
        if (pending != Symbols.MISSING && !fused) {
            append(pending);
        }
        pending = symbol;
    }

    /** Appends one of the bytes of a symbol outside the vocabulary. */
    void addByte(int symbol) {
        append(symbol);
    }

    private void insertPending() {
        append(pending);
        pending = Symbols.MISSING;
    }

    private void append(int symbol) {
        if (length == symbols.length) {
            symbols = Arrays.copyOf(symbols, length * 2);
            previous = Arrays.copyOf(previous, length * 2);
            next = Arrays.copyOf(next, length * 2);
        }
        symbols[length++] = symbol;
        work.add(1);
    }

    /** Merges the word, appends its ids to {@code out} and begins the next word. */
    public void merge(IdList out) {
        if (pending != Symbols.MISSING) {
            insertPending();
        }
        link();
        while (!candidates.isEmpty()) {
            work.add(1);
            long candidate = candidates.removeSmallest();
            int rank = (int) (candidate >>> 32);
            int position = (int) candidate;
            if (isCurrent(position, rank)) {
                join(position, merges.merged(rank));
            }
        }
        for (int i = 0; i < length; i = next[i]) {
            out.add(symbols[i]);
        }
        length = 0;
    }

    private void link() {
        for (int i = 0; i < length; i++) {
            previous[i] = i - 1;
            next[i] = i + 1;
        }
        for (int i = 0; i + 1 < length; i++) {
            offer(i);
        }
    }

    /** Returns whether the pair at {@code position} is still the offered one: its neighbors may have merged since. */
    private boolean isCurrent(int position, int rank) {
        return symbols[position] != GONE && next[position] < length && rankAt(position) == rank;
    }

    private void join(int position, int merged) {
        int right = next[position];
        int after = next[right];
        symbols[position] = merged;
        symbols[right] = GONE;
        next[position] = after;
        if (after < length) {
            previous[after] = position;
            offer(position);
        }
        if (previous[position] >= 0) {
            offer(previous[position]);
        }
    }

    private void offer(int position) {
        int rank = rankAt(position);
        if (rank != MergeTable.NO_MERGE) {
            candidates.add((long) rank << 32 | position);
        }
    }

    private int rankAt(int position) {
        work.add(1);
        return merges.rank(symbols[position], symbols[next[position]]);
    }
}
