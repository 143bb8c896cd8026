package io.roseinfer.grammar;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Decides membership and emptiness of regular languages by derivatives.
 *
 * <p>Expressions are interned as numbered nodes; unions and intersections are sorted sets, so derivatives are finitely
 * many. One solver serves one expression and one thread.
 */
final class RegexSolver {
    private static final int EMPTY = 0;
    private static final int NONE = 1;

    private enum Kind {
        EMPTY,
        NONE,
        CHARS,
        CONCAT,
        OR,
        AND,
        NOT,
        REPEAT
    }

    /** An expression. Its operands are numbers of nodes, sorted in unions and intersections. */
    private static final class Node {
        final Kind kind;
        final int[] operands;
        final CodePointSet set;
        final int min;
        final int max;
        private final int hash;

        Node(Kind kind, int[] operands, CodePointSet set, int min, int max) {
            this.kind = kind;
            this.operands = operands;
            this.set = set;
            this.min = min;
            this.max = max;
            hash = (((kind.ordinal() * 31 + Arrays.hashCode(operands)) * 31 + set.hashCode()) * 31 + min) * 31 + max;
        }

        static Node of(Kind kind, int... operands) {
            return new Node(kind, operands, CodePointSet.NONE, 0, 0);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Node node
                    && kind == node.kind
                    && min == node.min
                    && max == node.max
                    && Arrays.equals(operands, node.operands)
                    && set.equals(node.set);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    private final List<Node> nodes = new ArrayList<>();
    private final BitSet nullable = new BitSet();
    private final Map<Node, Integer> numbers = new HashMap<>();
    private final Map<Long, Integer> derivatives = new HashMap<>();
    private final int any;
    private final int root;
    private @Nullable Boolean hasNoText;

    RegexSolver(Regex regex) {
        intern(Node.of(Kind.EMPTY));
        intern(Node.of(Kind.NONE));
        any = repeat(chars(CodePointSet.ALL), 0, Regex.Repeat.UNBOUNDED);
        root = nodeOf(regex);
    }

    /** Returns whether a text is in the language. */
    static boolean matches(Regex regex, String text) {
        RegexSolver solver = GrammarWork.solver(regex);
        int state = solver.root;
        for (int i = 0; i < text.length() && state != NONE; i += Character.charCount(text.codePointAt(i))) {
            state = solver.derivative(state, text.codePointAt(i));
        }
        return solver.nullable.get(state);
    }

    /** Returns whether the language is certainly empty; false also if that takes too many states to decide. */
    static boolean isEmpty(Regex regex) {
        return switch (regex) {
            case Regex.None() -> true;
            case Regex.Empty(), Regex.Literal(var _) -> false;
            case Regex.Chars(CodePointSet set) -> set.isEmpty();
            case Regex.Concat(var parts) -> anyEmpty(parts);
            case Regex.Or(var alternatives) -> allEmpty(alternatives);
            case Regex.Repeat(var operand, int min, int _) -> min > 0 && isEmpty(operand);
            case Regex.And(var _), Regex.Not(var _) -> GrammarWork.solver(regex).hasNoText();
        };
    }

    private static boolean anyEmpty(List<Regex> parts) {
        for (Regex part : parts) {
            if (isEmpty(part)) {
                return true;
            }
        }
        return false;
    }

    private static boolean allEmpty(List<Regex> alternatives) {
        for (Regex alternative : alternatives) {
            if (!isEmpty(alternative)) {
                return false;
            }
        }
        return true;
    }

    private boolean hasNoText() {
        if (hasNoText == null) {
            hasNoText = !nullable.get(root) && findsNoText();
        }
        return hasNoText;
    }

    private boolean findsNoText() {
        GrammarWork.add(nodes.size());
        int[] representatives = representatives();
        // Breadth first: texts are mostly short, while a length limit makes long paths.
        Set<Integer> seen = new HashSet<>();
        Deque<Integer> open = new ArrayDeque<>();
        seen.add(root);
        open.add(root);
        while (!open.isEmpty()) {
            int state = open.remove();
            for (int codePoint : representatives) {
                int next = derivative(state, codePoint);
                if (nullable.get(next) || seen.size() > GrammarSize.SOLVER_STATES) {
                    return false;
                }
                if (next != NONE && seen.add(next)) {
                    open.add(next);
                }
            }
        }
        return true;
    }

    /** Returns one code point of each class that no set in the expression divides. */
    private int[] representatives() {
        Set<CodePointSet> sets = new HashSet<>();
        for (Node node : nodes) {
            if (node.kind == Kind.CHARS) {
                sets.add(node.set);
            }
        }
        TreeSet<Integer> starts = new TreeSet<>(List.of(0));
        for (CodePointSet set : sets) {
            for (int range = 0; range < set.rangeCount(); range++) {
                starts.add(set.first(range));
                int after = set.last(range) + 1;
                starts.add(after == Character.MIN_SURROGATE ? Character.MAX_SURROGATE + 1 : after);
            }
        }
        List<CodePointSet> ordered = List.copyOf(sets);
        Map<BitSet, Integer> classes = new LinkedHashMap<>();
        for (int start : starts) {
            if (start > Character.MAX_CODE_POINT) {
                continue;
            }
            BitSet signature = new BitSet();
            for (int i = 0; i < ordered.size(); i++) {
                signature.set(i, ordered.get(i).contains(start));
            }
            classes.putIfAbsent(signature, start);
        }
        return classes.values().stream().mapToInt(Integer::intValue).toArray();
    }

    private int intern(Node node) {
        Integer known = numbers.get(node);
        if (known != null) {
            return known;
        }
        int number = nodes.size();
        nodes.add(node);
        numbers.put(node, number);
        nullable.set(number, isNullable(node));
        return number;
    }

    private boolean isNullable(Node node) {
        return switch (node.kind) {
            case EMPTY -> true;
            case NONE, CHARS -> false;
            case CONCAT, AND -> countNullable(node.operands) == node.operands.length;
            case OR -> countNullable(node.operands) > 0;
            case NOT -> !nullable.get(node.operands[0]);
            case REPEAT -> node.min == 0;
        };
    }

    private int countNullable(int... operands) {
        int count = 0;
        for (int operand : operands) {
            count += nullable.get(operand) ? 1 : 0;
        }
        return count;
    }

    private int nodeOf(Regex regex) {
        return switch (regex) {
            case Regex.Empty() -> EMPTY;
            case Regex.None() -> NONE;
            case Regex.Chars(CodePointSet set) -> chars(set);
            case Regex.Literal(String text) -> {
                int node = EMPTY;
                int[] points = text.codePoints().toArray();
                for (int i = points.length - 1; i >= 0; i--) {
                    node = concat(chars(CodePointSet.of(points[i])), node);
                }
                yield node;
            }
            case Regex.Concat(var parts) -> {
                int node = EMPTY;
                for (Regex part : parts.reversed()) {
                    node = concat(nodeOf(part), node);
                }
                yield node;
            }
            case Regex.Or(var alternatives) ->
                or(alternatives.stream().mapToInt(this::nodeOf).toArray());
            case Regex.And(var operands) ->
                and(operands.stream().mapToInt(this::nodeOf).toArray());
            case Regex.Not(var operand) -> not(nodeOf(operand));
            case Regex.Repeat(var operand, int min, int max) -> repeat(nodeOf(operand), min, max);
        };
    }

    private int chars(CodePointSet set) {
        return set.isEmpty() ? NONE : intern(new Node(Kind.CHARS, new int[0], set, 0, 0));
    }

    private int concat(int head, int tail) {
        if (head == NONE || tail == NONE) {
            return NONE;
        }
        if (head == EMPTY || tail == EMPTY) {
            return head == EMPTY ? tail : head;
        }
        Node first = nodes.get(head);
        if (first.kind == Kind.CONCAT) {
            return concat(first.operands[0], concat(first.operands[1], tail));
        }
        return intern(Node.of(Kind.CONCAT, head, tail));
    }

    private int or(int... operands) {
        return combine(Kind.OR, operands, NONE, any);
    }

    private int and(int... operands) {
        return combine(Kind.AND, operands, any, NONE);
    }

    private int combine(Kind kind, int[] operands, int neutral, int absorbing) {
        int[] sorted = flat(kind, operands);
        Arrays.sort(sorted);
        int size = 0;
        for (int operand : sorted) {
            if (operand == absorbing) {
                return absorbing;
            }
            if (operand != neutral && (size == 0 || operand != sorted[size - 1])) {
                sorted[size++] = operand;
            }
        }
        return switch (size) {
            case 0 -> neutral;
            case 1 -> sorted[0];
            default -> intern(Node.of(kind, Arrays.copyOf(sorted, size)));
        };
    }

    /** Returns operands, each one of the same kind replaced by its own operands. */
    private int[] flat(Kind kind, int... operands) {
        int size = 0;
        for (int operand : operands) {
            Node node = nodes.get(operand);
            size += node.kind == kind ? node.operands.length : 1;
        }
        int[] result = new int[size];
        int end = 0;
        for (int operand : operands) {
            Node node = nodes.get(operand);
            if (node.kind == kind) {
                System.arraycopy(node.operands, 0, result, end, node.operands.length);
                end += node.operands.length;
            } else {
                result[end++] = operand;
            }
        }
        return result;
    }

    private int not(int operand) {
        Node node = nodes.get(operand);
        if (node.kind == Kind.NOT) {
            return node.operands[0];
        }
        return operand == NONE ? any : operand == any ? NONE : intern(Node.of(Kind.NOT, operand));
    }

    private int repeat(int operand, int min, int max) {
        if (max == 0 || operand == EMPTY) {
            return EMPTY;
        }
        if (operand == NONE) {
            return min == 0 ? EMPTY : NONE;
        }
        int least = nullable.get(operand) ? 0 : min;
        if (least == 1 && max == 1) {
            return operand;
        }
        return intern(new Node(Kind.REPEAT, new int[] {operand}, CodePointSet.NONE, least, max));
    }

    private int derivative(int state, int codePoint) {
        Node node = nodes.get(state);
        switch (node.kind) {
            case EMPTY, NONE -> {
                return NONE;
            }
            case CHARS -> {
                return node.set.contains(codePoint) ? EMPTY : NONE;
            }
            default -> {}
        }
        long key = (long) state << 21 | codePoint;
        Integer known = derivatives.get(key);
        if (known != null) {
            return known;
        }
        GrammarWork.add(node.operands.length);
        int result =
                switch (node.kind) {
                    case CONCAT -> {
                        int tail = node.operands[1];
                        int head = concat(derivative(node.operands[0], codePoint), tail);
                        yield nullable.get(node.operands[0]) ? or(head, derivative(tail, codePoint)) : head;
                    }
                    case OR -> or(derivatives(node.operands, codePoint));
                    case AND -> and(derivatives(node.operands, codePoint));
                    case NOT -> not(derivative(node.operands[0], codePoint));
                    case REPEAT -> {
                        int operand = node.operands[0];
                        int max = node.max == Regex.Repeat.UNBOUNDED ? node.max : node.max - 1;
                        yield concat(derivative(operand, codePoint), repeat(operand, Math.max(0, node.min - 1), max));
                    }
                    default -> NONE;
                };
        derivatives.put(key, result);
        return result;
    }

    private int[] derivatives(int[] states, int codePoint) {
        int[] result = new int[states.length];
        for (int i = 0; i < states.length; i++) {
            result[i] = derivative(states[i], codePoint);
        }
        return result;
    }
}
