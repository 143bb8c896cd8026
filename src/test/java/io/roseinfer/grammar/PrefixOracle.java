package io.roseinfer.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides by fixpoints over all spans of a text whether it is a prefix of a text of a grammar: slow, and independent of
 * the classes under test. Terminals are determinized eagerly, over some named code points and one for all others.
 *
 * <p>A text is an array of bytes (0..255) and special tokens ({@link #special}).
 */
final class PrefixOracle {
    private static final int SPECIAL = 256;
    private static final int OTHER = -1;

    /** All proper prefixes of encodings of code points, as text. */
    private static final Set<List<Byte>> PARTIAL = partialEncodings();

    private static final Map<Long, Integer> DECODED = new ConcurrentHashMap<>();

    private final Grammar grammar;
    private final Map<String, Integer> specialIds;
    private final int[] named;
    private final Map<Regex, Dfa> automata = new HashMap<>();
    private final Map<String, Boolean> productive = new HashMap<>();

    /**
     * Creates an oracle.
     *
     * @param named code points such that no set of the grammar splits the others
     */
    PrefixOracle(Grammar grammar, Map<String, Integer> specialIds, int... named) {
        this.grammar = grammar;
        this.specialIds = specialIds;
        this.named = named;
        boolean changed = true;
        while (changed) {
            changed = false;
            for (String rule : grammar.rules().keySet()) {
                boolean now = isProductive(rule(rule));
                changed |= now && productive.put(rule, true) == null;
            }
        }
    }

    static int special(int token) {
        return SPECIAL + token;
    }

    private Expression rule(String name) {
        return Objects.requireNonNull(grammar.rules().get(name));
    }

    boolean isEmpty() {
        return !productive.containsKey(grammar.start());
    }

    private boolean isProductive(Expression expression) {
        return switch (expression) {
            case Expression.Terminal(Regex regex) -> dfa(regex).live.get(0);
            case Expression.Sequence(List<Expression> parts) -> parts.stream().allMatch(this::isProductive);
            case Expression.Choice(List<Expression> parts) -> parts.stream().anyMatch(this::isProductive);
            case Expression.Repeat(Expression operand, int min, int _) -> min == 0 || isProductive(operand);
            case Expression.Reference(String rule) -> productive.containsKey(rule);
            case Expression.TokenReference _ -> true;
        };
    }

    /** The known facts of one text. */
    final class Reading {
        private final int[] text;
        /** For each index, the symbol of the code point that begins there, or {@link #OTHER}; and where it ends. */
        private final int[] symbol;

        private final int[] end;
        private final Map<String, BitSet[]> ends = new HashMap<>();
        private final Map<String, BitSet> open = new HashMap<>();
        private final IdentityHashMap<Expression, @Nullable BitSet[]> terminals = new IdentityHashMap<>();
        /** Ends by expression with what is known in one round of the fixpoint. */
        private final IdentityHashMap<Expression, @Nullable BitSet[]> round = new IdentityHashMap<>();

        private final IdentityHashMap<Expression, @Nullable Boolean[]> openTerminals = new IdentityHashMap<>();
        private final IdentityHashMap<Expression, @Nullable Boolean[]> openRound = new IdentityHashMap<>();

        /** The index of the incomplete code point at the text's end, or -1. */
        private int partial = -1;

        Reading(int... text) {
            this.text = text;
            symbol = new int[text.length];
            end = new int[text.length];
            for (int i = 0; i < text.length; i++) {
                decode(i);
                if (text.length - i <= 3
                        && Arrays.stream(text, i, text.length).allMatch(value -> value < SPECIAL)
                        && PARTIAL.contains(bytesFrom(i))) {
                    partial = i;
                }
            }
            for (String rule : grammar.rules().keySet()) {
                BitSet[] sets = new BitSet[text.length + 1];
                Arrays.setAll(sets, _ -> new BitSet());
                ends.put(rule, sets);
                open.put(rule, new BitSet());
            }
            boolean changed = true;
            while (changed) {
                changed = false;
                round.clear();
                openRound.clear();
                for (String rule : grammar.rules().keySet()) {
                    for (int i = text.length; i >= 0; i--) {
                        BitSet found = ends(rule(rule), i);
                        BitSet known = ends(rule)[i];
                        if (!found.equals(known)) {
                            known.or(found);
                            changed = true;
                        }
                        if (!open(rule).get(i) && isOpen(rule(rule), i)) {
                            open(rule).set(i);
                            changed = true;
                        }
                    }
                }
            }
        }

        private BitSet[] ends(String rule) {
            return Objects.requireNonNull(ends.get(rule));
        }

        private BitSet open(String rule) {
            return Objects.requireNonNull(open.get(rule));
        }

        private int special(String name) {
            return PrefixOracle.special(Objects.requireNonNull(specialIds.get(name)));
        }

        private List<Byte> bytesFrom(int from) {
            List<Byte> bytes = new ArrayList<>();
            for (int i = from; i < text.length; i++) {
                bytes.add((byte) text[i]);
            }
            return bytes;
        }

        private void decode(int from) {
            symbol[from] = OTHER;
            int bits = 0;
            for (int i = from; i < Math.min(from + 4, text.length) && text[i] < SPECIAL; i++) {
                bits = bits << 8 | text[i];
                int point = decoded(i - from + 1, bits);
                if (point != OTHER) {
                    symbol[from] = indexOf(point);
                    end[from] = i + 1;
                    return;
                }
            }
        }

        /** Returns whether the text is one of the grammar. */
        boolean isText() {
            return ends(grammar.start())[0].get(text.length);
        }

        /** Returns whether the text is a prefix of one of the grammar. */
        boolean isPrefix() {
            return open(grammar.start()).get(0);
        }

        /** Returns the ends of texts of the expression that begin at an index, not to be changed. */
        private BitSet ends(Expression expression, int from) {
            IdentityHashMap<Expression, @Nullable BitSet[]> memo =
                    expression instanceof Expression.Terminal ? terminals : round;
            @Nullable BitSet[] known = memo.computeIfAbsent(expression, _ -> new BitSet[text.length + 1]);
            if (known[from] == null) {
                known[from] = computeEnds(expression, from);
            }
            return known[from];
        }

        private BitSet computeEnds(Expression expression, int from) {
            BitSet found = new BitSet();
            switch (expression) {
                case Expression.Terminal(Regex regex) -> found.or(dfa(regex).ends(this, from));
                case Expression.Sequence(List<Expression> parts) -> {
                    found.set(from);
                    for (Expression part : parts) {
                        found = after(part, found);
                    }
                }
                case Expression.Choice(List<Expression> parts) -> {
                    for (Expression part : parts) {
                        found.or(ends(part, from));
                    }
                }
                case Expression.Repeat(Expression operand, int min, int max) -> {
                    List<BitSet> counts = counts(operand, min, max, from);
                    for (int count = min; count < counts.size(); count++) {
                        found.or(counts.get(count));
                    }
                }
                case Expression.Reference(String rule) -> found.or(ends(rule)[from]);
                case Expression.TokenReference(String name) -> {
                    if (from < text.length && text[from] == special(name)) {
                        found.set(from + 1);
                    }
                }
            }
            return found;
        }

        private BitSet after(Expression part, BitSet starts) {
            BitSet found = new BitSet();
            starts.stream().forEach(start -> found.or(ends(part, start)));
            return found;
        }

        /** Returns the ends of each number of repetitions, up to one that brings nothing new. */
        private List<BitSet> counts(Expression operand, int min, int max, int from) {
            List<BitSet> counts = new ArrayList<>();
            BitSet at = new BitSet();
            at.set(from);
            int most = Math.min(max, min + text.length + 2);
            for (int count = 0; count <= most; count++) {
                counts.add(at);
                if (at.isEmpty()) {
                    break;
                }
                at = after(operand, at);
            }
            return counts;
        }

        /** Returns whether the rest of the text is a prefix of a text of the expression. */
        private boolean isOpen(Expression expression, int from) {
            IdentityHashMap<Expression, @Nullable Boolean[]> memo =
                    expression instanceof Expression.Terminal ? openTerminals : openRound;
            @Nullable Boolean[] known = memo.computeIfAbsent(expression, _ -> new Boolean[text.length + 1]);
            if (known[from] == null) {
                known[from] = computeIsOpen(expression, from);
            }
            return known[from];
        }

        private boolean computeIsOpen(Expression expression, int from) {
            return switch (expression) {
                case Expression.Terminal(Regex regex) -> dfa(regex).isOpen(this, from);
                case Expression.Sequence(List<Expression> parts) -> isOpenSequence(parts, from);
                case Expression.Choice(List<Expression> parts) -> parts.stream().anyMatch(part -> isOpen(part, from));
                case Expression.Repeat(Expression operand, int min, int max) -> isOpenRepeat(operand, min, max, from);
                case Expression.Reference(String rule) -> open(rule).get(from);
                case Expression.TokenReference(String name) ->
                    from == text.length || (from == text.length - 1 && text[from] == special(name));
            };
        }

        private boolean isOpenSequence(List<Expression> parts, int from) {
            BitSet at = new BitSet();
            at.set(from);
            for (int i = 0; i < parts.size(); i++) {
                Expression part = parts.get(i);
                if (at.stream().anyMatch(start -> isOpen(part, start))
                        && parts.subList(i + 1, parts.size()).stream().allMatch(PrefixOracle.this::isProductive)) {
                    return true;
                }
                at = after(part, at);
            }
            return at.get(text.length);
        }

        private boolean isOpenRepeat(Expression operand, int min, int max, int from) {
            List<BitSet> counts = counts(operand, min, max, from);
            for (int count = 0; count < counts.size(); count++) {
                if (count >= min && counts.get(count).get(text.length)) {
                    return true;
                }
                if (count < max
                        && counts.get(count).stream().anyMatch(start -> isOpen(operand, start))
                        && (count + 1 >= min || isProductive(operand))) {
                    return true;
                }
            }
            return false;
        }
    }

    private Dfa dfa(Regex regex) {
        Dfa known = automata.get(regex);
        if (known == null) {
            known = determinize(regex);
            automata.put(regex, known);
        }
        return known;
    }

    private int symbols() {
        return named.length + 1;
    }

    /** A nondeterministic automaton with empty moves; state 0 is the start, state 1 the only accepting one. */
    private static final class Nfa {
        record Move(int symbol, int to) {}

        static final int EMPTY = -2;

        final List<List<Move>> moves = new ArrayList<>();

        int add() {
            moves.add(new ArrayList<>());
            return moves.size() - 1;
        }

        void move(int from, int symbol, int to) {
            moves.get(from).add(new Move(symbol, to));
        }

        Set<Integer> closed(Set<Integer> states) {
            Set<Integer> all = new TreeSet<>(states);
            Deque<Integer> open = new ArrayDeque<>(states);
            while (!open.isEmpty()) {
                for (Move move : moves.get(open.pop())) {
                    if (move.symbol() == EMPTY && all.add(move.to())) {
                        open.push(move.to());
                    }
                }
            }
            return all;
        }
    }

    private void build(Regex regex, Nfa nfa, int from, int to) {
        switch (regex) {
            case Regex.None _ -> {}
            case Regex.Empty _ -> nfa.move(from, Nfa.EMPTY, to);
            case Regex.Chars(CodePointSet set) -> {
                for (int i = 0; i < named.length; i++) {
                    if (set.contains(named[i])) {
                        nfa.move(from, i, to);
                    }
                }
                CodePointSet rest = set;
                for (int point : named) {
                    rest = rest.minus(CodePointSet.of(point));
                }
                if (!rest.isEmpty()) {
                    nfa.move(from, named.length, to);
                }
            }
            case Regex.Literal(String text) -> {
                int at = from;
                for (int point : text.codePoints().toArray()) {
                    int next = nfa.add();
                    nfa.move(at, indexOf(point), next);
                    at = next;
                }
                nfa.move(at, Nfa.EMPTY, to);
            }
            case Regex.Concat(List<Regex> parts) -> {
                int at = from;
                for (Regex part : parts) {
                    int next = nfa.add();
                    build(part, nfa, at, next);
                    at = next;
                }
                nfa.move(at, Nfa.EMPTY, to);
            }
            case Regex.Or(List<Regex> parts) ->
                parts.forEach(part -> {
                    int begin = nfa.add();
                    int end = nfa.add();
                    nfa.move(from, Nfa.EMPTY, begin);
                    build(part, nfa, begin, end);
                    nfa.move(end, Nfa.EMPTY, to);
                });
            case Regex.Repeat(Regex operand, int min, int max) -> {
                int at = from;
                for (int i = 0; i < min; i++) {
                    int next = nfa.add();
                    build(operand, nfa, at, next);
                    at = next;
                }
                if (max == Regex.Repeat.UNBOUNDED) {
                    int loop = nfa.add();
                    nfa.move(at, Nfa.EMPTY, loop);
                    int end = nfa.add();
                    build(operand, nfa, loop, end);
                    nfa.move(end, Nfa.EMPTY, loop);
                    nfa.move(loop, Nfa.EMPTY, to);
                } else {
                    for (int i = min; i < max; i++) {
                        nfa.move(at, Nfa.EMPTY, to);
                        int next = nfa.add();
                        build(operand, nfa, at, next);
                        at = next;
                    }
                    nfa.move(at, Nfa.EMPTY, to);
                }
            }
            case Regex.And(List<Regex> operands) -> {
                Dfa product = determinize(Regex.ANY_TEXT);
                for (Regex operand : operands) {
                    product = product.intersection(dfa(operand));
                }
                splice(product, nfa, from, to);
            }
            case Regex.Not(Regex operand) -> splice(dfa(operand).complement(), nfa, from, to);
        }
    }

    private static void splice(Dfa dfa, Nfa nfa, int from, int to) {
        int first = nfa.moves.size();
        for (int[] _ : dfa.next) {
            nfa.add();
        }
        nfa.move(from, Nfa.EMPTY, first);
        for (int state = 0; state < dfa.next.length; state++) {
            for (int symbol = 0; symbol < dfa.next[state].length; symbol++) {
                nfa.move(first + state, symbol, first + dfa.next[state][symbol]);
            }
            if (dfa.accepting.get(state)) {
                nfa.move(first + state, Nfa.EMPTY, to);
            }
        }
    }

    private int indexOf(int point) {
        for (int i = 0; i < named.length; i++) {
            if (named[i] == point) {
                return i;
            }
        }
        return named.length;
    }

    private Dfa determinize(Regex regex) {
        Nfa nfa = new Nfa();
        nfa.add();
        nfa.add();
        build(regex, nfa, 0, 1);
        Map<Set<Integer>, Integer> states = new HashMap<>();
        List<Set<Integer>> order = new ArrayList<>();
        order.add(nfa.closed(Set.of(0)));
        states.put(order.getFirst(), 0);
        List<int[]> rows = new ArrayList<>();
        BitSet accepting = new BitSet();
        for (int state = 0; state < order.size(); state++) {
            int[] row = new int[symbols()];
            for (int symbol = 0; symbol < row.length; symbol++) {
                Set<Integer> reached = new HashSet<>();
                for (int from : order.get(state)) {
                    for (Nfa.Move move : nfa.moves.get(from)) {
                        if (move.symbol() == symbol) {
                            reached.add(move.to());
                        }
                    }
                }
                Set<Integer> closed = nfa.closed(reached);
                Integer known = states.putIfAbsent(closed, order.size());
                row[symbol] = known == null ? order.size() : known;
                if (known == null) {
                    order.add(closed);
                }
            }
            rows.add(row);
            accepting.set(state, order.get(state).contains(1));
        }
        return new Dfa(rows.toArray(int[][]::new), accepting);
    }

    /** A complete deterministic automaton over {@link #named} and one symbol for all others. */
    private final class Dfa {
        final int[][] next;
        final BitSet accepting;
        final BitSet live = new BitSet();

        Dfa(int[][] next, BitSet accepting) {
            this.next = next;
            this.accepting = accepting;
            live.or(accepting);
            boolean changed = true;
            while (changed) {
                changed = false;
                for (int state = 0; state < next.length; state++) {
                    if (!live.get(state) && Arrays.stream(next[state]).anyMatch(live::get)) {
                        live.set(state);
                        changed = true;
                    }
                }
            }
        }

        Dfa complement() {
            BitSet flipped = (BitSet) accepting.clone();
            flipped.flip(0, next.length);
            return new Dfa(next, flipped);
        }

        Dfa intersection(Dfa other) {
            int width = other.next.length;
            int[][] rows = new int[next.length * width][symbols()];
            BitSet both = new BitSet();
            for (int i = 0; i < next.length; i++) {
                for (int j = 0; j < width; j++) {
                    for (int symbol = 0; symbol < symbols(); symbol++) {
                        rows[i * width + j][symbol] = next[i][symbol] * width + other.next[j][symbol];
                    }
                    both.set(i * width + j, accepting.get(i) && other.accepting.get(j));
                }
            }
            return new Dfa(rows, both);
        }

        BitSet ends(Reading reading, int from) {
            BitSet ends = new BitSet();
            walk(reading, from, ends);
            return ends;
        }

        boolean isOpen(Reading reading, int from) {
            return walk(reading, from, new BitSet());
        }

        /** Reads code points; returns whether the text's end is reached in a live state, perhaps within one. */
        private boolean walk(Reading reading, int from, BitSet ends) {
            int length = reading.text.length;
            int state = 0;
            int at = from;
            while (true) {
                if (accepting.get(state)) {
                    ends.set(at);
                }
                if (at == length) {
                    return live.get(state);
                }
                if (reading.symbol[at] == OTHER) {
                    break;
                }
                state = next[state][reading.symbol[at]];
                at = reading.end[at];
            }
            return at == reading.partial && isOpenWithin(state, reading.bytesFrom(at));
        }

        private boolean isOpenWithin(int state, List<Byte> bytes) {
            // Every prefix has completions that are not named: the tests name few characters.
            if (live.get(next[state][named.length])) {
                return true;
            }
            for (int i = 0; i < named.length; i++) {
                List<Byte> encoded = encoded(named[i]);
                if (encoded.size() > bytes.size()
                        && encoded.subList(0, bytes.size()).equals(bytes)
                        && live.get(next[state][i])) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Returns the code point that some bytes encode, or {@link #OTHER}. */
    private static int decoded(int length, int bits) {
        return DECODED.computeIfAbsent(((long) length << 32) | (bits & 0xFFFFFFFFL), _ -> {
            byte[] array = new byte[length];
            for (int i = 0; i < length; i++) {
                array[i] = (byte) (bits >> (8 * (length - 1 - i)));
            }
            String text = new String(array, StandardCharsets.UTF_8);
            return text.codePointCount(0, text.length()) == 1
                            && Arrays.equals(text.getBytes(StandardCharsets.UTF_8), array)
                    ? text.codePointAt(0)
                    : OTHER;
        });
    }

    private static List<Byte> encoded(int point) {
        List<Byte> bytes = new ArrayList<>();
        for (byte value : Character.toString(point).getBytes(StandardCharsets.UTF_8)) {
            bytes.add(value);
        }
        return bytes;
    }

    private static Set<List<Byte>> partialEncodings() {
        Set<List<Byte>> prefixes = new HashSet<>();
        for (int point = 0x80; point <= Character.MAX_CODE_POINT; point += point < 0x800 ? 1 : 0x20) {
            if (point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE) {
                List<Byte> bytes = encoded(point);
                for (int length = 1; length < bytes.size(); length++) {
                    prefixes.add(List.copyOf(bytes.subList(0, length)));
                }
            }
        }
        return prefixes;
    }
}
