package io.roseinfer.grammar;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** A regular set of texts; finite sets are kept as lists, which are faster to intersect. Immutable. */
sealed interface Texts {
    /** Listed texts, distinct. */
    record Finite(List<String> texts) implements Texts {
        /** No text. */
        static final Texts NONE = new Finite(List.of());

        public Finite {
            texts = List.copyOf(texts);
        }
    }

    /** The texts of an expression. */
    record Pattern(Regex regex) implements Texts {
        /** Every text. */
        static final Texts ALL = new Pattern(Regex.ANY_TEXT);
    }

    /** Returns texts of a length in code points. */
    static Texts ofLength(int min, int max) {
        return new Pattern(Regex.repeat(Regex.chars(CodePointSet.ALL), min, max));
    }

    /** Returns an expression of these texts. */
    default Regex regex() {
        return switch (this) {
            case Finite(List<String> texts) -> JsonText.texts(texts);
            case Pattern(Regex regex) -> regex;
        };
    }

    /** Returns whether a text is in the set. */
    default boolean contains(String text) {
        return switch (this) {
            case Finite(List<String> texts) -> texts.contains(text);
            case Pattern(Regex regex) -> regex.equals(Regex.ANY_TEXT) || RegexSolver.matches(regex, text);
        };
    }

    /** Returns the common texts. */
    default Texts and(Texts other) {
        if (equals(Pattern.ALL)) {
            return other;
        }
        if (other.equals(Pattern.ALL) || equals(Finite.NONE)) {
            return this;
        }
        if (this instanceof Finite(List<String> texts)) {
            Predicate<String> isCommon = other instanceof Finite(List<String> others)
                    ? new HashSet<>(others)::contains
                    : other::contains;
            return new Finite(texts.stream().filter(isCommon).toList());
        }
        if (other instanceof Finite) {
            return other.and(this);
        }
        Regex left = regex();
        Regex right = other.regex();
        if (isLength(left)
                && isLength(right)
                && left instanceof Regex.Repeat(var _, int min, int max)
                && right instanceof Regex.Repeat(var _, int otherMin, int otherMax)) {
            int least = Math.max(min, otherMin);
            int most = Math.min(max, otherMax);
            return least > most ? Finite.NONE : ofLength(least, most);
        }
        Regex both = Regex.and(left, right);
        GrammarWork.add(both instanceof Regex.And(List<Regex> operands) ? operands.size() : 1);
        return new Pattern(both);
    }

    private static boolean isLength(Regex regex) {
        return regex instanceof Regex.Repeat(Regex.Chars(CodePointSet set), int _, int _)
                && set.equals(CodePointSet.ALL);
    }

    /** Returns the texts of any of the sets. */
    static Texts anyOf(List<Texts> sets) {
        if (sets.contains(Pattern.ALL)) {
            return Pattern.ALL;
        }
        Set<String> finite = new LinkedHashSet<>();
        List<Regex> patterns = new ArrayList<>();
        for (Texts set : sets) {
            if (set instanceof Finite(List<String> texts) && patterns.isEmpty()) {
                finite.addAll(texts);
            } else if (!set.equals(Finite.NONE)) {
                patterns.add(set.regex());
            }
        }
        Finite first = new Finite(List.copyOf(finite));
        if (patterns.isEmpty()) {
            return first;
        }
        if (finite.isEmpty() && patterns.size() == 1) {
            return new Pattern(patterns.getFirst());
        }
        patterns.addFirst(first.regex());
        return new Pattern(Regex.or(patterns));
    }

    /** Returns the other texts. */
    default Texts not() {
        return equals(Pattern.ALL) ? Finite.NONE : equals(Finite.NONE) ? Pattern.ALL : new Pattern(Regex.not(regex()));
    }

    /** Returns whether the set is certainly empty; see {@link RegexSolver#isEmpty}. */
    default boolean isEmpty() {
        return switch (this) {
            case Finite(List<String> texts) -> texts.isEmpty();
            case Pattern(Regex regex) -> RegexSolver.isEmpty(regex);
        };
    }
}
