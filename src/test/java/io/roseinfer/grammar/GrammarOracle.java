package io.roseinfer.grammar;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * A slow, exact recognizer of a grammar's texts: for each expression and start, the ends of its texts, by definition.
 *
 * <p>Independent of derivatives and automata. One oracle serves one text.
 */
final class GrammarOracle {
    private record Span(String rule, int start) {}

    private record Piece(Regex regex, int start) {}

    private final Grammar grammar;
    private final int[] text;
    private final Map<Piece, BitSet> pieces = new HashMap<>();
    private final Map<Span, BitSet> spans = new HashMap<>();
    private final Map<Span, Set<Span>> readers = new HashMap<>();
    private final Deque<Span> open = new ArrayDeque<>();

    private GrammarOracle(Grammar grammar, String text) {
        this.grammar = grammar;
        this.text = text.codePoints().toArray();
    }

    /** Returns whether a text is in the language of a grammar without special tokens. */
    static boolean accepts(Grammar grammar, String text) {
        return new GrammarOracle(grammar, text).accepts();
    }

    /** Returns whether a text is in a regular language. */
    static boolean accepts(Regex regex, String text) {
        GrammarOracle oracle = new GrammarOracle(Grammar.of(Expression.EMPTY), text);
        return oracle.ends(regex, 0).get(oracle.text.length);
    }

    private boolean accepts() {
        Span whole = new Span(grammar.start(), 0);
        spans.put(whole, new BitSet());
        open.add(whole);
        while (!open.isEmpty()) {
            Span span = open.remove();
            Expression right = Objects.requireNonNull(grammar.rules().get(span.rule));
            BitSet ends = ends(right, span.start, span);
            if (!ends.equals(spans.get(span))) {
                ends.or(spans.get(span));
                spans.put(span, ends);
                open.addAll(readers.getOrDefault(span, Set.of()));
            }
        }
        return spans.get(whole).get(text.length);
    }

    private static BitSet of(int end) {
        BitSet ends = new BitSet();
        ends.set(end);
        return ends;
    }

    private BitSet ends(Expression expression, int start, Span reader) {
        return switch (expression) {
            case Expression.Terminal(Regex regex) -> ends(regex, start);
            case Expression.TokenReference _ -> new BitSet();
            case Expression.Reference(String rule) -> {
                Span span = new Span(rule, start);
                readers.computeIfAbsent(span, key -> new HashSet<>()).add(reader);
                BitSet known = spans.get(span);
                if (known == null) {
                    known = new BitSet();
                    spans.put(span, known);
                    open.add(span);
                }
                yield known;
            }
            case Expression.Sequence(var parts) -> {
                BitSet ends = of(start);
                for (Expression part : parts) {
                    ends = after(ends, at -> ends(part, at, reader));
                }
                yield ends;
            }
            case Expression.Choice(var alternatives) -> {
                BitSet ends = new BitSet();
                alternatives.forEach(alternative -> ends.or(ends(alternative, start, reader)));
                yield ends;
            }
            case Expression.Repeat(var operand, int min, int max) ->
                repeated(start, min, max, at -> ends(operand, at, reader));
        };
    }

    private interface Ends {
        BitSet from(int start);
    }

    private static BitSet after(BitSet starts, Ends ends) {
        BitSet result = new BitSet();
        starts.stream().forEach(start -> result.or(ends.from(start)));
        return result;
    }

    private BitSet repeated(int start, int min, int max, Ends operand) {
        BitSet result = new BitSet();
        BitSet current = of(start);
        Set<BitSet> seen = new HashSet<>();
        for (int count = 0; count <= max && !current.isEmpty(); count++) {
            if (count >= min) {
                result.or(current);
                if (!seen.add(current)) {
                    break;
                }
            } else if (count > text.length + 1) {
                // Only empty repetitions are left to make up the minimum.
                BitSet next = after(current, operand);
                if (next.equals(current)) {
                    result.or(current);
                    break;
                }
            }
            current = after(current, operand);
        }
        return result;
    }

    private BitSet ends(Regex regex, int start) {
        Piece piece = new Piece(regex, start);
        BitSet known = pieces.get(piece);
        if (known == null) {
            known = search(regex, start);
            pieces.put(piece, known);
        }
        return (BitSet) known.clone();
    }

    private BitSet search(Regex regex, int start) {
        switch (regex) {
            case Regex.Empty() -> {
                return of(start);
            }
            case Regex.None() -> {
                return new BitSet();
            }
            case Regex.Chars(CodePointSet set) -> {
                return start < text.length && set.contains(text[start]) ? of(start + 1) : new BitSet();
            }
            case Regex.Literal(String literal) -> {
                int[] points = literal.codePoints().toArray();
                for (int i = 0; i < points.length; i++) {
                    if (start + i >= text.length || text[start + i] != points[i]) {
                        return new BitSet();
                    }
                }
                return of(start + points.length);
            }
            case Regex.Concat(List<Regex> parts) -> {
                BitSet ends = of(start);
                for (Regex part : parts) {
                    ends = after(ends, at -> ends(part, at));
                }
                return ends;
            }
            case Regex.Or(List<Regex> alternatives) -> {
                BitSet ends = new BitSet();
                alternatives.forEach(alternative -> ends.or(ends(alternative, start)));
                return ends;
            }
            case Regex.And(List<Regex> operands) -> {
                BitSet ends = new BitSet();
                ends.set(start, text.length + 1);
                operands.forEach(operand -> ends.and(ends(operand, start)));
                return ends;
            }
            case Regex.Not(Regex operand) -> {
                BitSet ends = new BitSet();
                ends.set(start, text.length + 1);
                ends.andNot(ends(operand, start));
                return ends;
            }
            case Regex.Repeat(Regex operand, int min, int max) -> {
                return repeated(start, min, max, at -> ends(operand, at));
            }
        }
    }
}
