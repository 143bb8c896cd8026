package io.roseinfer.scheduler.policy;

import io.roseinfer.base.SplitMix64;
import java.util.Arrays;

/**
 * The suffix automaton of a growing text: finds the longest suffix of the text, or of another one, that occurs in it
 * before its end. A token takes constant time on average. Not thread-safe; allocates only to grow.
 *
 * <p>A state stands for substrings that end at the same places. They are suffixes of the longest of them; the link
 * leads to the state of the next shorter suffix. Most states have one edge, which is in arrays by state; the others are in
 * a hash table.
 */
final class SuffixAutomaton {
    /** The state of the empty text. */
    static final int ROOT = 0;

    private static final int NONE = -1;
    private static final int MIN_TOKENS = 128;

    /** Maximum links whose states learn of a new end; so a token takes bounded time in text that repeats itself. */
    private static final int MAX_ENDS = 8;

    private int[] text = new int[MIN_TOKENS];
    private int size;

    /** The length of each state's longest text. */
    private int[] lengths = new int[2 * MIN_TOKENS];

    private int[] links = new int[2 * MIN_TOKENS];
    /** The index after an occurrence of each state's texts, one of the latest. */
    private int[] ends = new int[2 * MIN_TOKENS];

    private int[] firstTokens = new int[2 * MIN_TOKENS];
    /** The target of each state's first edge, or {@link #NONE}. */
    private int[] firstTargets = new int[2 * MIN_TOKENS];
    /** The latest of each state's further edges, or {@link #NONE}. */
    private int[] furtherEdges = new int[2 * MIN_TOKENS];

    private int states;
    private int last;

    private int[] edgeStates = new int[MIN_TOKENS];
    private int[] edgeTokens = new int[MIN_TOKENS];
    private int[] edgeTargets = new int[MIN_TOKENS];
    /** The next further edge of the same state, or {@link #NONE}. */
    private int[] edgeNext = new int[MIN_TOKENS];

    private int edges;
    /** A hash table of edges by state and token: 1 + edge, or 0. */
    private int[] table = new int[4 * MIN_TOKENS];

    SuffixAutomaton() {
        clear();
    }

    /** Removes all tokens, but keeps the memory. */
    void clear() {
        size = 0;
        states = 0;
        edges = 0;
        Arrays.fill(table, 0);
        last = newState(0);
        links[ROOT] = NONE;
    }

    /** Returns the number of tokens. */
    int size() {
        return size;
    }

    /** Appends a token, of any value. */
    void append(int token) {
        addEnd();
        if (size == text.length) {
            text = Arrays.copyOf(text, 2 * size);
        }
        text[size++] = token;
        int state = newState(lengths[last] + 1);
        ends[state] = size;
        int from = last;
        while (from != NONE && target(from, token) == NONE) {
            addEdge(from, token, state);
            from = links[from];
        }
        if (from == NONE) {
            links[state] = ROOT;
        } else {
            int to = target(from, token);
            // Before the assignment, as a new state may replace the array.
            int link = lengths[to] == lengths[from] + 1 ? to : split(from, token, to);
            links[state] = link;
        }
        last = state;
    }

    /** Marks the longest suffixes that occurred before as ending here. */
    private void addEnd() {
        int state = links[last];
        for (int i = 0; i < MAX_ENDS && state > ROOT; i++) {
            ends[state] = size;
            state = links[state];
        }
    }

    /** Splits the texts of a state that a token leads to from a state into those that have this edge, and longer ones. */
    private int split(int from, int token, int longer) {
        int shorter = newState(lengths[from] + 1);
        links[shorter] = links[longer];
        ends[shorter] = ends[longer];
        if (firstTargets[longer] != NONE) {
            addEdge(shorter, firstTokens[longer], firstTargets[longer]);
        }
        for (int edge = furtherEdges[longer]; edge != NONE; edge = edgeNext[edge]) {
            addEdge(shorter, edgeTokens[edge], edgeTargets[edge]);
        }
        links[longer] = shorter;
        for (int state = from; state != NONE && target(state, token) == longer; state = links[state]) {
            redirect(state, token, shorter);
        }
        return shorter;
    }

    private int newState(int length) {
        if (states == lengths.length) {
            int capacity = 2 * states;
            lengths = Arrays.copyOf(lengths, capacity);
            links = Arrays.copyOf(links, capacity);
            ends = Arrays.copyOf(ends, capacity);
            firstTokens = Arrays.copyOf(firstTokens, capacity);
            firstTargets = Arrays.copyOf(firstTargets, capacity);
            furtherEdges = Arrays.copyOf(furtherEdges, capacity);
        }
        int state = states++;
        lengths[state] = length;
        firstTargets[state] = NONE;
        furtherEdges[state] = NONE;
        return state;
    }

    /** Returns the state that a token leads to, or {@link #NONE}. */
    private int target(int state, int token) {
        if (firstTargets[state] != NONE && firstTokens[state] == token) {
            return firstTargets[state];
        }
        int edge = furtherEdges[state] == NONE ? NONE : edge(state, token);
        return edge == NONE ? NONE : edgeTargets[edge];
    }

    private void redirect(int state, int token, int to) {
        if (firstTokens[state] == token) {
            firstTargets[state] = to;
        } else {
            edgeTargets[edge(state, token)] = to;
        }
    }

    private void addEdge(int state, int token, int to) {
        if (firstTargets[state] == NONE) {
            firstTokens[state] = token;
            firstTargets[state] = to;
            return;
        }
        ensureEdge();
        int edge = edges++;
        edgeStates[edge] = state;
        edgeTokens[edge] = token;
        edgeTargets[edge] = to;
        edgeNext[edge] = furtherEdges[state];
        furtherEdges[state] = edge;
        insert(edge);
    }

    private void ensureEdge() {
        if (edges == edgeStates.length) {
            int capacity = 2 * edges;
            edgeStates = Arrays.copyOf(edgeStates, capacity);
            edgeTokens = Arrays.copyOf(edgeTokens, capacity);
            edgeTargets = Arrays.copyOf(edgeTargets, capacity);
            edgeNext = Arrays.copyOf(edgeNext, capacity);
            table = new int[2 * table.length];
            for (int edge = 0; edge < edges; edge++) {
                insert(edge);
            }
        }
    }

    private void insert(int edge) {
        int at = bucket(edgeStates[edge], edgeTokens[edge]);
        while (table[at] != 0) {
            at = at + 1 & table.length - 1;
        }
        table[at] = 1 + edge;
    }

    /** Returns the further edge of a state by a token, or {@link #NONE}. */
    private int edge(int state, int token) {
        int at = bucket(state, token);
        while (table[at] != 0) {
            int edge = table[at] - 1;
            if (edgeStates[edge] == state && edgeTokens[edge] == token) {
                return edge;
            }
            at = at + 1 & table.length - 1;
        }
        return NONE;
    }

    private int bucket(int state, int token) {
        return (int) SplitMix64.mix(((long) state << 32) | (token & 0xFFFFFFFFL)) & table.length - 1;
    }

    /** Returns the length of the longest suffix of the text that occurs before its end, too. */
    int repeatedLength() {
        return last == ROOT ? 0 : lengths[links[last]];
    }

    /** Copies up to {@code max} tokens after an earlier occurrence of that suffix; after the text's end come the copies. */
    int copyRepeated(int max, int[] into) {
        int from = ends[links[last]];
        int known = size - from;
        for (int i = 0; i < max; i++) {
            into[i] = i < known ? text[from + i] : into[i - known];
        }
        return max;
    }

    /** The longest suffix of another text that occurs in an automaton's text. */
    static final class Match {
        private int state;
        private int length;

        void clear() {
            state = ROOT;
            length = 0;
        }

        int length() {
            return length;
        }
    }

    /** Appends a token to the text of a match. */
    void advance(Match match, int token) {
        unsplit(match);
        int to = target(match.state, token);
        while (to == NONE && match.state != ROOT) {
            match.state = links[match.state];
            match.length = lengths[match.state];
            to = target(match.state, token);
        }
        if (to != NONE) {
            match.state = to;
            match.length++;
        }
    }

    /** Moves a match to its texts' state, as its state may have been split since it was reached. */
    private void unsplit(Match match) {
        while (match.state != ROOT && match.length <= lengths[links[match.state]]) {
            match.state = links[match.state];
        }
    }

    /** Copies up to {@code max} tokens, none negative, that follow an occurrence of a match; returns their number. */
    int copyAfter(Match match, int max, int[] into) {
        unsplit(match);
        int from = ends[match.state];
        int count = 0;
        while (count < max && from + count < size && text[from + count] >= 0) {
            into[count] = text[from + count];
            count++;
        }
        return count;
    }
}
