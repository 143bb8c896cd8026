package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.grammar.ByteRegex.Kind;
import io.roseinfer.grammar.ByteRegex.Known;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The regular languages of one grammar and their derivatives (Brzozowski, 1964). The derivative of a language by a byte
 * has the texts that follow this byte, so derivatives are the states of a deterministic automaton, built on demand.
 *
 * <p>Constructors simplify, so that equal languages often are the same node; the automaton is finite in any case.
 * {@link #next} is safe for use by several threads; all other methods need the table's lock.
 */
final class ByteRegexTable {
    private static final ByteRegex[] NO_OPERANDS = {};
    private static final int MAX_DEPTH = 2000;
    private static final int NODE_BYTES = 112;
    private static final Comparator<ByteRegex> BY_ID = Comparator.comparingLong(regex -> regex.id);

    /** The key by which nodes are equal; operands are compared by identity. */
    private static final class Shape {
        private final Kind kind;
        private final ByteSet bytes;
        private final ByteRegex[] operands;
        private final int min;
        private final int max;
        private final int hash;

        Shape(Kind kind, ByteSet bytes, ByteRegex[] operands, int min, int max) {
            this.kind = kind;
            this.bytes = bytes;
            this.operands = operands;
            this.min = min;
            this.max = max;
            long mixed = SplitMix64.mix(((long) min << 32) + max + kind.ordinal()) ^ bytes.hashCode();
            for (ByteRegex operand : operands) {
                mixed = (mixed ^ operand.id) * 0x9E3779B97F4A7C15L;
                mixed ^= mixed >>> 32;
            }
            this.hash = (int) mixed;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Shape shape
                    && hash == shape.hash
                    && kind == shape.kind
                    && min == shape.min
                    && max == shape.max
                    && bytes.equals(shape.bytes)
                    && isSame(operands, shape.operands);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    final ByteRegex none;
    final ByteRegex empty;

    private final int maxStates;
    private final int horizon;
    private final Map<Shape, ByteRegex> nodes = new HashMap<>();
    private @Nullable ByteClasses classes;
    private long nextId;
    /** The first id of a node made after {@link #seal}. */
    private long firstDerivative;

    private long size;
    private long permanentSize;

    /**
     * Creates a table without derivatives; {@link #seal} enables them.
     *
     * @param maxStates the maximum number of states that are searched to decide whether a language is empty
     * @param horizon the length of the longest token in bytes; see {@link #horizon}
     */
    ByteRegexTable(int maxStates, int horizon) {
        this.maxStates = maxStates;
        this.horizon = horizon;
        none = intern(Kind.NONE, ByteSet.NONE, NO_OPERANDS, 0, 0);
        empty = intern(Kind.EMPTY, ByteSet.NONE, NO_OPERANDS, 0, 0);
    }

    /** Returns the approximate size, in bytes, of the nodes that are kept: those made before {@link #seal}. */
    long permanentSize() {
        return classes == null ? size : permanentSize;
    }

    /** Returns the approximate size of all nodes in bytes. */
    long size() {
        return size;
    }

    /** Ends the construction of languages: their byte classes are known from here on. */
    ByteClasses seal() {
        List<ByteSet> sets = nodes.values().stream()
                .filter(regex -> regex.kind == Kind.BYTES)
                .map(regex -> regex.bytes)
                .toList();
        classes = new ByteClasses(sets);
        firstDerivative = nextId;
        permanentSize = size;
        return classes;
    }

    /** Forgets all derivatives. Nodes in use stay valid, but a new equal node may come to exist next to them. */
    void clear() {
        for (ByteRegex regex : nodes.values()) {
            regex.next = null;
            regex.row = null;
            regex.mask = null;
            regex.plain = null;
            regex.horizon = null;
        }
        nodes.values().removeIf(regex -> regex.id >= firstDerivative);
        size = permanentSize;
    }

    private ByteRegex intern(Kind kind, ByteSet bytes, ByteRegex[] operands, int min, int max) {
        GrammarWork.addLanguages(1 + operands.length);
        Shape shape = new Shape(kind, bytes, operands, min, max);
        ByteRegex known = nodes.get(shape);
        if (known != null) {
            return known;
        }
        ByteRegex made = new ByteRegex(nextId++, kind, bytes, operands, min, max, horizon);
        if (made.depth > MAX_DEPTH) {
            throw new BadInput("a regular expression of the grammar is nested too deeply; the maximum is " + MAX_DEPTH);
        }
        nodes.put(shape, made);
        size += NODE_BYTES + 8L * operands.length;
        return made;
    }

    /** Returns the language of the texts that are one byte of the set. */
    ByteRegex bytes(ByteSet set) {
        return set.equals(ByteSet.NONE) ? none : intern(Kind.BYTES, set, NO_OPERANDS, 0, 0);
    }

    ByteRegex concat(ByteRegex left, ByteRegex right) {
        if (left == none || right == none) {
            return none;
        }
        if (left == empty) {
            return right;
        }
        return right == empty ? left : intern(Kind.CONCAT, ByteSet.NONE, new ByteRegex[] {left, right}, 0, 0);
    }

    ByteRegex or(List<ByteRegex> alternatives) {
        List<ByteRegex> flat = new ArrayList<>(alternatives.size());
        ByteSet single = ByteSet.NONE;
        boolean hasEmpty = false;
        boolean nullable = false;
        Deque<ByteRegex> open = new ArrayDeque<>(alternatives);
        while (!open.isEmpty()) {
            ByteRegex regex = open.pop();
            switch (regex.kind) {
                case NONE -> {}
                case EMPTY -> hasEmpty = true;
                case BYTES -> single = single.union(regex.bytes);
                case OR -> List.of(regex.operands).forEach(open::push);
                default -> {
                    nullable |= regex.nullable;
                    flat.add(regex);
                }
            }
        }
        if (!single.equals(ByteSet.NONE)) {
            flat.add(bytes(single));
        }
        if (hasEmpty && !nullable) {
            flat.add(empty);
        }
        return ofDistinct(Kind.OR, flat, none);
    }

    ByteRegex and(List<ByteRegex> operands) {
        List<ByteRegex> flat = new ArrayList<>(operands.size());
        @Nullable ByteSet single = null;
        boolean hasEmpty = false;
        boolean nullable = true;
        Deque<ByteRegex> open = new ArrayDeque<>(operands);
        while (!open.isEmpty()) {
            ByteRegex regex = open.pop();
            nullable &= regex.nullable;
            switch (regex.kind) {
                case NONE -> {
                    return none;
                }
                case EMPTY -> hasEmpty = true;
                case BYTES -> single = single == null ? regex.bytes : single.intersection(regex.bytes);
                case AND -> List.of(regex.operands).forEach(open::push);
                default -> flat.add(regex);
            }
        }
        if (hasEmpty) {
            return nullable ? empty : none;
        }
        if (single != null) {
            if (single.equals(ByteSet.NONE)) {
                return none;
            }
            flat.add(bytes(single));
        }
        return contradicts(flat) ? none : ofDistinct(Kind.AND, flat, not(none));
    }

    /** Returns whether an operand excludes another one. */
    private static boolean contradicts(List<ByteRegex> operands) {
        for (ByteRegex operand : operands) {
            if (operand.kind == Kind.NOT) {
                ByteRegex excluded = operand.operands[0];
                List<ByteRegex> alternatives =
                        excluded.kind == Kind.OR ? List.of(excluded.operands) : List.of(excluded);
                if (!Collections.disjoint(operands, alternatives)) {
                    return true;
                }
            }
        }
        return false;
    }

    private ByteRegex ofDistinct(Kind kind, List<ByteRegex> operands, ByteRegex ofNone) {
        ByteRegex[] sorted = operands.toArray(NO_OPERANDS);
        Arrays.sort(sorted, BY_ID);
        int size = 0;
        for (ByteRegex operand : sorted) {
            if (size == 0 || operand != sorted[size - 1]) {
                sorted[size++] = operand;
            }
        }
        return switch (size) {
            case 0 -> ofNone;
            case 1 -> sorted[0];
            default -> intern(kind, ByteSet.NONE, Arrays.copyOf(sorted, size), 0, 0);
        };
    }

    /** Returns the complement in all byte strings, which include malformed UTF-8. */
    ByteRegex not(ByteRegex regex) {
        return regex.kind == Kind.NOT
                ? regex.operands[0]
                : intern(Kind.NOT, ByteSet.NONE, new ByteRegex[] {regex}, 0, 0);
    }

    /**
     * Returns {@code min} to {@code max} repetitions.
     *
     * @param max the maximum, or {@link Regex.Repeat#UNBOUNDED}
     */
    ByteRegex repeat(ByteRegex regex, int min, int max) {
        int least = regex.nullable ? 0 : min;
        if (max == 0 || regex == empty) {
            return empty;
        }
        if (regex == none) {
            return least == 0 ? empty : none;
        }
        if (max == 1) {
            return least == 1 ? regex : or(List.of(regex, empty));
        }
        if (regex.kind == Kind.REPEAT && regex.min == 0 && regex.max == Regex.Repeat.UNBOUNDED) {
            return regex;
        }
        return intern(Kind.REPEAT, ByteSet.NONE, new ByteRegex[] {regex}, least, max);
    }

    /** Returns the derivative by a byte class; NONE if no text begins so. */
    ByteRegex next(ByteRegex regex, int byteClass) {
        @Nullable ByteRegex @Nullable [] row = regex.next;
        ByteRegex known = row == null ? null : row[byteClass];
        return known != null ? known : computeNext(regex, byteClass);
    }

    private synchronized ByteRegex computeNext(ByteRegex regex, int byteClass) {
        ByteRegex[] row = row(regex);
        if (!regex.complex) {
            return row[byteClass];
        }
        @Nullable ByteRegex @Nullable [] live = regex.next;
        if (live == null) {
            live = new ByteRegex[row.length];
            size += 16 + 4L * row.length;
        }
        ByteRegex next = isLive(row[byteClass]) ? row[byteClass] : none;
        for (int i = 0; i < row.length; i++) {
            if (row[i] == row[byteClass]) {
                live[i] = next;
            }
        }
        regex.next = live;
        return next;
    }

    /**
     * Returns the derivatives by all classes, not to be changed. They are few different languages, and each is made
     * once. Those of complex languages may be empty without being NONE.
     */
    private ByteRegex[] row(ByteRegex regex) {
        ByteRegex[] known = regex.row;
        if (known == null) {
            known = new ByteRegex[classes().count()];
            GrammarWork.addLanguages((long) known.length * Math.max(1, regex.operands.length / 2));
            switch (regex.kind) {
                case CONCAT -> deriveConcat(regex.operands[0], regex.operands[1], known);
                case REPEAT -> {
                    int max = regex.max == Regex.Repeat.UNBOUNDED ? regex.max : regex.max - 1;
                    ByteRegex more = repeat(regex.operands[0], Math.max(regex.min - 1, 0), max);
                    concatAll(row(regex.operands[0]), more, known);
                }
                case NOT, AND, OR -> deriveOperands(regex, known);
                case NONE, EMPTY, BYTES -> {
                    for (int i = 0; i < known.length; i++) {
                        known[i] = derivative(regex, i);
                    }
                }
            }
            regex.row = known;
            size += 16 + 4L * known.length;
            if (!regex.complex) {
                regex.next = known;
            }
        }
        return known;
    }

    /** Returns one derivative, without making rows for the many languages of a union. */
    private ByteRegex derivative(ByteRegex regex, int byteClass) {
        return switch (regex.kind) {
            case NONE, EMPTY -> none;
            case BYTES -> regex.bytes.contains(classes().representative(byteClass)) ? empty : none;
            default ->
                beginsWithBytes(regex)
                        ? concat(derivative(regex.operands[0], byteClass), regex.operands[1])
                        : row(regex)[byteClass];
        };
    }

    private static boolean beginsWithBytes(ByteRegex regex) {
        return regex.kind == Kind.CONCAT && regex.operands[0].kind == Kind.BYTES;
    }

    private void deriveConcat(ByteRegex left, ByteRegex right, ByteRegex[] row) {
        if (left.kind == Kind.BYTES) {
            for (int i = 0; i < row.length; i++) {
                row[i] = concat(derivative(left, i), right);
            }
            return;
        }
        concatAll(row(left), right, row);
        if (left.nullable) {
            ByteRegex[] skipped = row(right);
            for (int i = 0; i < row.length; i++) {
                if (skipped[i] != none) {
                    row[i] = row[i] == none ? skipped[i] : or(List.of(row[i], skipped[i]));
                }
            }
        }
    }

    private void concatAll(ByteRegex[] lefts, ByteRegex right, ByteRegex[] row) {
        for (int i = 0; i < row.length; i++) {
            int same = 0;
            while (lefts[same] != lefts[i]) {
                same++;
            }
            row[i] = same < i ? row[same] : concat(lefts[i], right);
        }
    }

    private void deriveOperands(ByteRegex regex, ByteRegex[] row) {
        ByteRegex[][] columns = new ByteRegex[row.length][regex.operands.length];
        long[] hashes = new long[row.length];
        for (int j = 0; j < regex.operands.length; j++) {
            ByteRegex operand = regex.operands[j];
            ByteRegex @Nullable [] derivatives = beginsWithBytes(operand) ? null : row(operand);
            for (int i = 0; i < row.length; i++) {
                ByteRegex one = derivatives == null ? derivative(operand, i) : derivatives[i];
                columns[i][j] = one;
                hashes[i] = hashes[i] * 31 + one.id;
            }
        }
        for (int i = 0; i < row.length; i++) {
            int same = 0;
            while (hashes[same] != hashes[i] || !isSame(columns[same], columns[i])) {
                same++;
            }
            if (same < i) {
                row[i] = row[same];
            } else {
                row[i] = switch (regex.kind) {
                    case OR -> or(List.of(columns[i]));
                    case AND -> and(List.of(columns[i]));
                    default -> not(columns[i][0]);
                };
            }
        }
    }

    private static boolean isSame(ByteRegex[] left, ByteRegex[] right) {
        if (left.length != right.length) {
            return false;
        }
        for (int i = 0; i < left.length; i++) {
            if (left[i] != right[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns the byte classes of the sealed table. */
    ByteClasses classes() {
        return Objects.requireNonNull(classes);
    }

    /** Returns whether the language has a text. */
    synchronized boolean isLive(ByteRegex regex) {
        if (!regex.complex) {
            return regex != none;
        }
        if (regex.live == Known.UNKNOWN) {
            boolean live =
                    switch (regex.kind) {
                        case CONCAT -> hasLiveParts(regex);
                        case OR -> anyLive(regex.operands);
                        case REPEAT -> regex.min == 0 || isLive(regex.operands[0]);
                        default -> findsText(regex);
                    };
            regex.live = live ? Known.YES : Known.NO;
        }
        return regex.live == Known.YES;
    }

    private boolean anyLive(ByteRegex[] operands) {
        for (ByteRegex operand : operands) {
            if (isLive(operand)) {
                return true;
            }
        }
        return false;
    }

    private boolean hasLiveParts(ByteRegex concat) {
        ByteRegex rest = concat;
        while (rest.kind == Kind.CONCAT) {
            if (!isLive(rest.operands[0])) {
                return false;
            }
            rest = rest.operands[1];
        }
        return isLive(rest);
    }

    /** A node of a depth-first search and the class to derive by next. */
    private static final class Visit {
        final ByteRegex regex;
        int byteClass;

        Visit(ByteRegex regex) {
            this.regex = regex;
        }
    }

    /** Searches the derivatives of a language for one with the empty text. */
    private boolean findsText(ByteRegex start) {
        if (start.nullable) {
            return true;
        }
        Set<ByteRegex> visited = new HashSet<>(Set.of(start));
        Deque<Visit> path = new ArrayDeque<>(List.of(new Visit(start)));
        while (!path.isEmpty()) {
            Visit top = path.getLast();
            ByteRegex[] row = row(top.regex);
            if (top.byteClass == row.length) {
                path.removeLast();
                continue;
            }
            if (top.byteClass == 0 && hasKnownText(row)) {
                path.forEach(visit -> visit.regex.live = Known.YES);
                return true;
            }
            ByteRegex derived = row[top.byteClass++];
            boolean searched = derived.kind == Kind.AND || derived.kind == Kind.NOT;
            if (!searched && isLive(derived)) {
                path.forEach(visit -> visit.regex.live = Known.YES);
                return true;
            }
            if (searched && derived.live == Known.UNKNOWN && visited.add(derived)) {
                if (visited.size() > maxStates) {
                    throw new BadInput("a regular expression of the grammar has more than " + maxStates
                            + " states (the limit); simplify its intersections and complements");
                }
                path.addLast(new Visit(derived));
            }
        }
        visited.forEach(regex -> regex.live = Known.NO);
        return false;
    }

    private boolean hasKnownText(ByteRegex[] languages) {
        for (ByteRegex regex : languages) {
            if (regex.nullable || regex.live == Known.YES || (!regex.complex && regex != none)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the language has a text other than the empty one. */
    synchronized boolean continues(ByteRegex regex) {
        if (!regex.complex) {
            return regex != none && regex != empty;
        }
        if (regex.continues == Known.UNKNOWN) {
            boolean found = false;
            for (int i = 0; i < classes().count() && !found; i++) {
                found = next(regex, i) != none;
            }
            regex.continues = found ? Known.YES : Known.NO;
        }
        return regex.continues == Known.YES;
    }

    /**
     * Returns a language that has the same prefixes up to the length of the longest token, and of these the same texts.
     * Bounds of repetitions that one token cannot reach are dropped, so that the languages of a long count become one.
     */
    synchronized ByteRegex horizon(ByteRegex regex) {
        if (!regex.counted || regex.complex) {
            return regex;
        }
        ByteRegex known = regex.horizon;
        if (known == null) {
            known = switch (regex.kind) {
                case CONCAT -> horizonOfConcat(regex);
                case OR ->
                    or(List.of(regex.operands).stream().map(this::horizon).toList());
                case REPEAT ->
                    repeat(
                            horizon(regex.operands[0]),
                            Math.min(regex.min, horizon + 1),
                            regex.max > horizon ? Regex.Repeat.UNBOUNDED : regex.max);
                default -> regex;
            };
            regex.horizon = known;
        }
        return known;
    }

    private ByteRegex horizonOfConcat(ByteRegex concat) {
        List<ByteRegex> parts = new ArrayList<>();
        ByteRegex rest = concat;
        while (rest.kind == Kind.CONCAT) {
            parts.add(rest.operands[0]);
            rest = rest.operands[1];
        }
        ByteRegex rebuilt = horizon(rest);
        for (ByteRegex part : parts.reversed()) {
            rebuilt = concat(horizon(part), rebuilt);
        }
        return rebuilt;
    }
}
