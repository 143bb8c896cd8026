package io.roseinfer.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
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
    /** Maximum moves of one automaton's determinization, and of one product of automata. */
    private static final int MAX_MOVES = 1_000_000;

    private static final int SPECIAL = 256;
    private static final int OTHER = -1;

    /** All proper prefixes of encodings of code points, as text. */
    private static final Set<List<Byte>> PARTIAL = partialEncodings();

    private static final Map<Long, Integer> DECODED = new ConcurrentHashMap<>();

    /** Maximum symbols of a text: sets of indices are bits of a {@code long}. */
    private static final int MAX_SYMBOLS = 63;

    private final Grammar grammar;
    private final Map<String, Integer> specialIds;
    private final int[] named;
    private final List<List<Byte>> encodings;
    private final Map<Regex, Dfa> automata = new HashMap<>();
    private final Map<String, Boolean> productive = new HashMap<>();
    /** The expressions of all rules, each after its parts. */
    private final List<Node> nodes = new ArrayList<>();

    private final Map<String, Node> rules = new HashMap<>();

    /** An expression, its index among the nodes, and the automaton of a terminal. */
    private record Node(
            int index, Expression expression, List<Node> parts, boolean isProductive, @Nullable Dfa automaton) {}

    /** A terminal whose automaton takes more than {@value #MAX_MOVES} moves to make. */
    static final class TooLargeException extends RuntimeException {
        TooLargeException() {
            super("an automaton takes more than " + MAX_MOVES + " moves", null, false, false);
        }
    }

    /**
     * Creates an oracle.
     *
     * @param named code points such that no set of the grammar splits the others
     * @throws TooLargeException if a terminal is too large to determinize
     */
    PrefixOracle(Grammar grammar, Map<String, Integer> specialIds, int... named) {
        this.grammar = grammar;
        this.specialIds = specialIds;
        this.named = named;
        this.encodings = Arrays.stream(named).mapToObj(PrefixOracle::encoded).toList();
        boolean changed = true;
        while (changed) {
            changed = false;
            for (String rule : grammar.rules().keySet()) {
                boolean now = isProductive(rule(rule));
                changed |= now && productive.put(rule, true) == null;
            }
        }
        grammar.rules().forEach((name, right) -> rules.put(name, node(right)));
    }

    Grammar grammar() {
        return grammar;
    }

    static int special(int token) {
        return SPECIAL + token;
    }

    private Expression rule(String name) {
        return Objects.requireNonNull(grammar.rules().get(name));
    }

    private Node node(String rule) {
        return Objects.requireNonNull(rules.get(rule));
    }

    private Node node(Expression expression) {
        List<Node> parts =
                switch (expression) {
                    case Expression.Sequence(List<Expression> operands) ->
                        operands.stream().map(this::node).toList();
                    case Expression.Choice(List<Expression> operands) ->
                        operands.stream().map(this::node).toList();
                    case Expression.Repeat(Expression operand, int _, int _) -> List.of(node(operand));
                    default -> List.of();
                };
        Dfa automaton = expression instanceof Expression.Terminal(Regex regex) ? dfa(regex) : null;
        Node node = new Node(nodes.size(), expression, parts, isProductive(expression), automaton);
        nodes.add(node);
        return node;
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

    /**
     * The known facts of one text. An expression's texts from an index depend on those from this and later indices, so
     * each index, the last one first, has its own fixpoint.
     */
    final class Reading {
        private final int[] text;
        /** For each index, the symbol of the code point that begins there, or {@link #OTHER}; and where it ends. */
        private final int[] symbol;

        private final int[] end;
        /** By node and index, the ends of the texts that begin there, as bits. */
        private final long[][] ends;
        /** By node, the indices from which the rest is a prefix of one of its texts, as bits. */
        private final long[] open;

        /** The index of the incomplete code point at the text's end, or -1. */
        private int partial = -1;

        Reading(int... text) {
            if (text.length > MAX_SYMBOLS) {
                throw new IllegalArgumentException(text.length + " symbols");
            }
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
            ends = new long[nodes.size()][text.length + 1];
            open = new long[nodes.size()];
            for (int at = text.length; at >= 0; at--) {
                for (Node node : nodes) {
                    if (node.automaton != null) {
                        node.automaton.read(this, node.index, at);
                    }
                }
                boolean changed = true;
                while (changed) {
                    changed = false;
                    for (Node node : nodes) {
                        changed |= find(node, at);
                    }
                }
            }
        }

        /** Adds what follows for a node from what is known; returns whether that is new. */
        private boolean find(Node node, int at) {
            long known = ends[node.index][at];
            long found = known | computeEnds(node, at);
            ends[node.index][at] = found;
            if (isOpen(node, at) || !computeIsOpen(node, at)) {
                return found != known;
            }
            open[node.index] |= 1L << at;
            return true;
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
            return (ends[node(grammar.start()).index][0] >> text.length & 1) != 0;
        }

        /** Returns whether the text is a prefix of one of the grammar. */
        boolean isPrefix() {
            return isOpen(node(grammar.start()), 0);
        }

        private boolean isOpen(Node node, int from) {
            return (open[node.index] >> from & 1) != 0;
        }

        private long computeEnds(Node node, int from) {
            return switch (node.expression) {
                case Expression.Terminal _ -> ends[node.index][from];
                case Expression.Sequence _ -> {
                    long at = 1L << from;
                    for (Node part : node.parts) {
                        at = after(part, at);
                    }
                    yield at;
                }
                case Expression.Choice _ -> {
                    long found = 0;
                    for (Node part : node.parts) {
                        found |= ends[part.index][from];
                    }
                    yield found;
                }
                case Expression.Repeat(Expression _, int min, int max) -> {
                    long found = 0;
                    long at = 1L << from;
                    for (int count = 0; count <= largest(min, max) && at != 0; count++) {
                        found |= count >= min ? at : 0;
                        at = after(node.parts.getFirst(), at);
                    }
                    yield found;
                }
                case Expression.Reference(String rule) -> ends[node(rule).index][from];
                case Expression.TokenReference(String name) ->
                    from < text.length && text[from] == special(name) ? 1L << (from + 1) : 0;
            };
        }

        private long after(Node part, long starts) {
            long found = 0;
            for (long rest = starts; rest != 0; rest &= rest - 1) {
                found |= ends[part.index][Long.numberOfTrailingZeros(rest)];
            }
            return found;
        }

        /** Returns a number of repetitions beyond which nothing new comes. */
        private int largest(int min, int max) {
            return Math.min(max, min + text.length + 2);
        }

        /** Returns whether the rest of the text is a prefix of a text of the expression. */
        private boolean computeIsOpen(Node node, int from) {
            return switch (node.expression) {
                case Expression.Terminal _ -> isOpen(node, from);
                case Expression.Sequence _ -> isOpenSequence(node.parts, from);
                case Expression.Choice _ -> {
                    boolean found = false;
                    for (Node part : node.parts) {
                        found |= isOpen(part, from);
                    }
                    yield found;
                }
                case Expression.Repeat(Expression _, int min, int max) ->
                    isOpenRepeat(node.parts.getFirst(), min, max, from);
                case Expression.Reference(String rule) -> isOpen(node(rule), from);
                case Expression.TokenReference(String name) ->
                    from == text.length || (from == text.length - 1 && text[from] == special(name));
            };
        }

        private boolean isOpenSequence(List<Node> parts, int from) {
            long at = 1L << from;
            for (int i = 0; i < parts.size(); i++) {
                Node part = parts.get(i);
                if ((at & open[part.index]) != 0
                        && parts.subList(i + 1, parts.size()).stream().allMatch(Node::isProductive)) {
                    return true;
                }
                at = after(part, at);
            }
            return (at >> text.length & 1) != 0;
        }

        private boolean isOpenRepeat(Node operand, int min, int max, int from) {
            long at = 1L << from;
            for (int count = 0; count <= largest(min, max) && at != 0; count++) {
                if (count >= min && (at >> text.length & 1) != 0) {
                    return true;
                }
                if (count < max && (at & open[operand.index]) != 0 && (count + 1 >= min || operand.isProductive)) {
                    return true;
                }
                at = after(operand, at);
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

    private static int moved(int moves, int more) {
        if (more > MAX_MOVES - moves) {
            throw new TooLargeException();
        }
        return moves + more;
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
        int moves = 0;
        for (int state = 0; state < order.size(); state++) {
            moves = moved(moves, (1 + order.get(state).size()) * symbols());
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
            moved(0, Math.multiplyExact(next.length * width, symbols()));
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

        /** Reads code points; finds the ends, and whether the text's end is in a live state, perhaps within one. */
        void read(Reading reading, int node, int from) {
            int length = reading.text.length;
            int state = 0;
            int at = from;
            while (at < length && reading.symbol[at] != OTHER) {
                if (accepting.get(state)) {
                    reading.ends[node][from] |= 1L << at;
                }
                state = next[state][reading.symbol[at]];
                at = reading.end[at];
            }
            if (accepting.get(state)) {
                reading.ends[node][from] |= 1L << at;
            }
            boolean isOpen = at == length
                    ? live.get(state)
                    : at == reading.partial && isOpenWithin(state, reading.bytesFrom(at));
            reading.open[node] |= isOpen ? 1L << from : 0;
        }

        private boolean isOpenWithin(int state, List<Byte> bytes) {
            // Every prefix has completions that are not named: the tests name few characters.
            if (live.get(next[state][named.length])) {
                return true;
            }
            for (int i = 0; i < named.length; i++) {
                List<Byte> encoded = encodings.get(i);
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
