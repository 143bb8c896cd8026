package io.roseinfer.tokenizer;

import io.roseinfer.base.Steps;
import java.util.Arrays;

/**
 * Merges the symbols of one word after another: again and again the adjacent pair of the smallest rank, the leftmost on a tie,
 * until no pair merges. Symbols form a linked list and candidate pairs a heap, so a word of n bytes takes O(n log n), where the
 * textbook loop takes O(n²). Scratch of one {@code encode} call; not for sharing.
 */
final class BytePairMerger {
    private static final int GONE = -1;

    private final MergeTable merges;
    private final Steps steps;
    private int[] symbols = new int[32];
    private int[] previous = new int[32];
    private int[] next = new int[32];
    private int length;

    /** The unknown symbol that waits for its place in the word, or {@link Symbols#MISSING}. */
    private int waiting = Symbols.MISSING;

    /** Candidates as {@code rank << 32 | position}: the order of the longs is the order of the merges. */
    private final LongHeap candidates = new LongHeap();

    /**
     * A merger with no word begun.
     *
     * @param steps counts symbols, looked up pairs and candidates taken: the measure of work
     */
    public BytePairMerger(MergeTable merges, Steps steps) {
        this.merges = merges;
        this.steps = steps;
    }

    /** Appends a symbol to the word. */
    public void add(int symbol) {
        if (waiting != Symbols.MISSING) {
            placeWaiting();
        }
        append(symbol);
    }

    /**
     * Appends the unknown symbol for one that the vocabulary does not have. It takes its place when the next known symbol comes, or at the
     * word's end; bytes that come before that ({@link #addByte}) stand before it. That is where Hugging Face {@code tokenizers} puts
     * it.
     *
     * @param fused whether it is one with an unknown symbol that waits already
     */
    void addUnknown(int symbol, boolean fused) {
        if (waiting != Symbols.MISSING && !fused) {
            append(waiting);
        }
        waiting = symbol;
    }

    /** Appends one of the bytes of a symbol that the vocabulary does not have. */
    void addByte(int symbol) {
        append(symbol);
    }

    private void placeWaiting() {
        append(waiting);
        waiting = Symbols.MISSING;
    }

    private void append(int symbol) {
        if (length == symbols.length) {
            symbols = Arrays.copyOf(symbols, length * 2);
            previous = Arrays.copyOf(previous, length * 2);
            next = Arrays.copyOf(next, length * 2);
        }
        symbols[length++] = symbol;
        steps.take(1);
    }

    /** Merges the word, appends its ids to {@code out} and begins the next word. */
    public void merge(IdList out) {
        if (waiting != Symbols.MISSING) {
            placeWaiting();
        }
        link();
        while (!candidates.isEmpty()) {
            steps.take(1);
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

    /** Whether the pair at {@code position} is still the one that was offered: its neighbours may have merged since. */
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
        steps.take(1);
        return merges.rank(symbols[position], symbols[next[position]]);
    }
}
