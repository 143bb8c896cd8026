package io.roseinfer.grammar;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.function.IntBinaryOperator;
import java.util.function.IntPredicate;

/**
 * The equivalent states of a complete deterministic automaton, by Hopcroft's algorithm: a group is split if a symbol
 * leads only some of its states into another group. Used by one thread.
 */
final class StatePartition {
    private final int count;
    private final int symbols;
    /** By symbol and target, where its sources begin in {@link #sources}. */
    private final int[] begin;

    private final int[] sources;
    /** The states, one group next to the other, each with its marked states first; and the index of each. */
    private final int[] order;

    private final int[] index;
    private final int[] group;
    /** By group: its range in {@link #order}, and the end of its marked states. */
    private final int[] first;

    private final int[] end;
    private final int[] marked;
    private int groups;
    private final Deque<Integer> open = new ArrayDeque<>();
    private final BitSet isOpen = new BitSet();
    /** The groups with marked states. */
    private final int[] touched;

    private int touchedCount;

    /**
     * Creates the coarsest partition: accepting states and others.
     *
     * @param next the target of a state and a symbol
     */
    StatePartition(int count, int symbols, IntBinaryOperator next, IntPredicate isAccepting) {
        this.count = count;
        this.symbols = symbols;
        begin = new int[symbols * count + 1];
        sources = new int[symbols * count];
        order = new int[count];
        index = new int[count];
        group = new int[count];
        first = new int[count];
        end = new int[count];
        marked = new int[count];
        touched = new int[count];
        index(next);
        end[0] = count;
        groups = 1;
        open(0);
        for (int state = 0; state < count; state++) {
            order[state] = state;
            index[state] = state;
        }
        for (int state = 0; state < count; state++) {
            if (isAccepting.test(state)) {
                mark(state);
            }
        }
        splitTouched();
    }

    private void index(IntBinaryOperator next) {
        int[] target = new int[symbols * count];
        for (int symbol = 0; symbol < symbols; symbol++) {
            for (int state = 0; state < count; state++) {
                int key = symbol * count + next.applyAsInt(state, symbol);
                target[symbol * count + state] = key;
                begin[key + 1]++;
            }
        }
        for (int key = 0; key < symbols * count; key++) {
            begin[key + 1] += begin[key];
        }
        int[] filled = begin.clone();
        for (int i = 0; i < target.length; i++) {
            sources[filled[target[i]]++] = i % count;
        }
    }

    /** Returns the group of each state in the coarsest partition that no symbol splits. */
    int[] refined() {
        while (!open.isEmpty()) {
            int splitter = open.remove();
            isOpen.clear(splitter);
            int[] targets = Arrays.copyOfRange(order, first[splitter], end[splitter]);
            for (int symbol = 0; symbol < symbols; symbol++) {
                for (int target : targets) {
                    int key = symbol * count + target;
                    for (int i = begin[key]; i < begin[key + 1]; i++) {
                        mark(sources[i]);
                    }
                }
                splitTouched();
            }
        }
        return group;
    }

    /** Moves a state, not yet marked, to the marked ones of its group. */
    private void mark(int state) {
        int own = group[state];
        if (marked[own] == first[own]) {
            touched[touchedCount++] = own;
        }
        int at = marked[own]++;
        int other = order[at];
        order[index[state]] = other;
        index[other] = index[state];
        order[at] = state;
        index[state] = at;
    }

    private void splitTouched() {
        for (int i = 0; i < touchedCount; i++) {
            split(touched[i]);
        }
        touchedCount = 0;
    }

    /** Makes the marked states of a group a group of their own, unless these are all or none. */
    private void split(int old) {
        int middle = marked[old];
        marked[old] = first[old];
        if (middle == first[old] || middle == end[old]) {
            return;
        }
        int fresh = groups++;
        first[fresh] = first[old];
        end[fresh] = middle;
        marked[fresh] = first[fresh];
        first[old] = middle;
        marked[old] = middle;
        for (int i = first[fresh]; i < middle; i++) {
            group[order[i]] = fresh;
        }
        boolean isSmaller = end[fresh] - first[fresh] < end[old] - first[old];
        open(isSmaller || isOpen.get(old) ? fresh : old);
    }

    private void open(int added) {
        open.add(added);
        isOpen.set(added);
    }
}
