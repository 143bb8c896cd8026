package io.roseinfer.grammar;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Spells the numbers of a set in JSON. */
final class DecimalRegex {
    /** Maximum nodes of an expression; an automaton that needs more becomes rules. */
    private static final int MAX_NODES = 4_000;

    /** Maximum numbers of a set that counts as a list of constants. */
    private static final int LISTED = 1_000;

    private DecimalRegex() {}

    /**
     * Returns the spellings in which numbers of a set are written: integers without a fraction if the set has only
     * integers, and without trailing zeros if there are few.
     */
    static DecimalSet written(DecimalSet set) {
        if (set.equals(DecimalSet.ALL)) {
            return set;
        }
        if (DecimalSet.INTEGERS.containsAll(set)) {
            return set.and(DecimalSet.PLAIN_INTEGERS);
        }
        DecimalSet shortest = set.and(DecimalSet.SHORTEST);
        return shortest.isFinite() && shortest.spellings(LISTED + 1).size() <= LISTED ? shortest : set;
    }

    /** Returns an expression of the spellings of an automaton, or null if it would be too large. */
    static @Nullable Regex regex(DecimalSet set) {
        if (set.isEmpty()) {
            return Regex.NONE;
        }
        if (set.states() > 600) {
            return null;
        }
        int end = set.states();
        List<Map<Integer, Regex>> edges = new ArrayList<>();
        for (int state = 0; state < end; state++) {
            Map<Integer, Regex> out = new TreeMap<>();
            symbols(set, state).forEach((target, symbols) -> out.put(target, Regex.chars(CodePointSet.of(symbols))));
            if (set.isAccepting(state)) {
                out.put(end, Regex.EMPTY);
            }
            edges.add(out);
        }
        List<Integer> left = new ArrayList<>();
        for (int state = 1; state < end; state++) {
            left.add(state);
        }
        while (!left.isEmpty()) {
            int state = cheapest(left, edges);
            left.remove(Integer.valueOf(state));
            if (!eliminate(state, edges)) {
                return null;
            }
        }
        Map<Integer, Regex> start = edges.getFirst();
        Regex whole = start.getOrDefault(end, Regex.NONE);
        Regex loop = start.get(0);
        return loop == null ? whole : Regex.concat(Regex.star(loop), whole);
    }

    /** Returns the symbols by which each state follows a state. */
    static Map<Integer, String> symbols(DecimalSet set, int state) {
        Map<Integer, String> symbols = new TreeMap<>();
        for (int symbol = 0; symbol < DecimalSet.SYMBOLS; symbol++) {
            int target = set.next(state, symbol);
            if (target >= 0) {
                symbols.merge(target, String.valueOf("0123456789.-".charAt(symbol)), String::concat);
            }
        }
        return symbols;
    }

    private static int cheapest(List<Integer> left, List<Map<Integer, Regex>> edges) {
        int[] incoming = new int[edges.size()];
        for (int state = 0; state < edges.size(); state++) {
            for (int target : edges.get(state).keySet()) {
                if (target < incoming.length && target != state) {
                    incoming[target]++;
                }
            }
        }
        int best = left.getFirst();
        long least = Long.MAX_VALUE;
        for (int state : left) {
            long cost = (long) incoming[state] * edges.get(state).size();
            if (cost < least) {
                least = cost;
                best = state;
            }
        }
        return best;
    }

    private static boolean eliminate(int state, List<Map<Integer, Regex>> edges) {
        Map<Integer, Regex> out = edges.get(state);
        Regex loop = out.remove(state);
        Regex repeated = loop == null ? Regex.EMPTY : Regex.star(loop);
        for (int from = 0; from < edges.size(); from++) {
            Regex in = edges.get(from).remove(state);
            if (in == null || from == state) {
                continue;
            }
            for (Map.Entry<Integer, Regex> edge : out.entrySet()) {
                Regex path = Regex.concat(in, repeated, edge.getValue());
                Regex known = edges.get(from).get(edge.getKey());
                Regex both = known == null ? path : either(known, path);
                if (RegexParser.sizeOf(both, MAX_NODES) > MAX_NODES) {
                    return false;
                }
                edges.get(from).put(edge.getKey(), both);
            }
        }
        out.clear();
        return true;
    }

    private static Regex either(Regex left, Regex right) {
        if (left instanceof Regex.Chars(CodePointSet one) && right instanceof Regex.Chars(CodePointSet two)) {
            return Regex.chars(one.union(two));
        }
        if (left.equals(Regex.EMPTY) || right.equals(Regex.EMPTY)) {
            Regex other = left.equals(Regex.EMPTY) ? right : left;
            if (other instanceof Regex.Concat(var parts)
                    && parts.size() == 2
                    && parts.get(1).equals(Regex.star(parts.get(0)))) {
                return parts.get(1);
            }
            return RegexParser.isNullable(other) ? other : Regex.optional(other);
        }
        return Regex.or(left, right);
    }
}
