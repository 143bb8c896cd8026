package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * A regular language over Unicode scalar values. Intersection and complement are ordinary operators. Immutable; the
 * factories simplify, so that {@link #NONE} stands for every language that is empty without {@link And} and
 * {@link Not}.
 *
 * <p>There are no anchors: a regex describes whole texts.
 */
public sealed interface Regex {
    /** The language of the empty text only. */
    Regex EMPTY = new Empty();

    /** The empty language: it has no text. */
    Regex NONE = new None();

    /** All texts. */
    Regex ANY_TEXT = new Repeat(new Chars(CodePointSet.ALL), 0, Repeat.UNBOUNDED);

    /** The empty text. */
    record Empty() implements Regex {}

    /** No text. */
    record None() implements Regex {}

    /** Texts of one code point. */
    record Chars(CodePointSet set) implements Regex {}

    /** One text. */
    record Literal(String text) implements Regex {
        /**
         * Creates the language of a text.
         *
         * @throws IllegalArgumentException if the text has an unpaired surrogate, which UTF-8 cannot encode
         */
        public Literal {
            int bad = unpairedSurrogate(text);
            if (bad >= 0) {
                throw new IllegalArgumentException(
                        "text " + Quoted.name(text) + " has an unpaired surrogate at index " + bad);
            }
        }

        private static int unpairedSurrogate(String text) {
            for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
                int point = text.codePointAt(i);
                if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                    return i;
                }
            }
            return -1;
        }
    }

    /** Concatenations of one text of each part, in order. */
    record Concat(List<Regex> parts) implements Regex {
        public Concat {
            parts = List.copyOf(parts);
        }
    }

    /** Texts of at least one alternative. */
    record Or(List<Regex> alternatives) implements Regex {
        public Or {
            alternatives = List.copyOf(alternatives);
        }
    }

    /** Texts of all operands; all texts if there is no operand. */
    record And(List<Regex> operands) implements Regex {
        public And {
            operands = List.copyOf(operands);
        }
    }

    /** Texts that are not in the operand. */
    record Not(Regex operand) implements Regex {}

    /**
     * Concatenations of {@code min} to {@code max} texts of the operand.
     *
     * @param max the maximum, or {@link #UNBOUNDED}
     */
    record Repeat(Regex operand, int min, int max) implements Regex {
        /** No maximum. */
        public static final int UNBOUNDED = Integer.MAX_VALUE;

        /**
         * Creates a repetition.
         *
         * @throws IllegalArgumentException unless {@code 0 <= min <= max}
         */
        public Repeat {
            if (min < 0 || min > max) {
                throw new IllegalArgumentException("repetition {" + min + "," + max + "} is not a range");
            }
        }
    }

    /** Returns the texts of one code point of the set. */
    static Regex chars(CodePointSet set) {
        return set.isEmpty() ? NONE : new Chars(set);
    }

    /** Returns the language of one text; see {@link Literal}. */
    static Regex literal(String text) {
        return text.isEmpty() ? EMPTY : new Literal(text);
    }

    /** Returns the concatenation. */
    static Regex concat(Regex... parts) {
        return concat(List.of(parts));
    }

    /** Returns the concatenation. */
    static Regex concat(List<Regex> parts) {
        List<Regex> flat = new ArrayList<>(parts.size());
        for (Regex part : parts) {
            switch (part) {
                case None none -> {
                    return none;
                }
                case Empty _ -> {}
                case Concat nested -> flat.addAll(nested.parts());
                default -> flat.add(part);
            }
        }
        return flat.isEmpty() ? EMPTY : flat.size() == 1 ? flat.getFirst() : new Concat(flat);
    }

    /** Returns the union. */
    static Regex or(Regex... alternatives) {
        return or(List.of(alternatives));
    }

    /** Returns the union. */
    static Regex or(List<Regex> alternatives) {
        if (alternatives.size() == 1) {
            return alternatives.getFirst();
        }
        List<Regex> flat = new ArrayList<>(alternatives.size());
        for (Regex alternative : alternatives) {
            switch (alternative) {
                case None _ -> {}
                case Or nested -> flat.addAll(nested.alternatives());
                default -> flat.add(alternative);
            }
        }
        List<Regex> distinct = List.copyOf(new LinkedHashSet<>(flat));
        return distinct.isEmpty() ? NONE : distinct.size() == 1 ? distinct.getFirst() : new Or(distinct);
    }

    /** Returns the intersection. */
    static Regex and(Regex... operands) {
        return and(List.of(operands));
    }

    /** Returns the intersection; all texts if there is no operand. */
    static Regex and(List<Regex> operands) {
        List<Regex> flat = new ArrayList<>(operands.size());
        for (Regex operand : operands) {
            switch (operand) {
                case None none -> {
                    return none;
                }
                case And nested -> flat.addAll(nested.operands());
                default -> flat.add(operand);
            }
        }
        List<Regex> distinct =
                flat.stream().distinct().filter(r -> !r.equals(ANY_TEXT)).toList();
        return distinct.isEmpty() ? ANY_TEXT : distinct.size() == 1 ? distinct.getFirst() : new And(distinct);
    }

    /** Returns the complement. */
    static Regex not(Regex operand) {
        return switch (operand) {
            case Not negated -> negated.operand();
            case None _ -> ANY_TEXT;
            default -> operand.equals(ANY_TEXT) ? NONE : new Not(operand);
        };
    }

    /** Returns the repetition; see {@link Repeat}. */
    static Regex repeat(Regex operand, int min, int max) {
        Repeat checked = new Repeat(operand, min, max);
        if (max == 0 || operand instanceof Empty || (operand instanceof None && min == 0)) {
            return EMPTY;
        }
        return operand instanceof None || (min == 1 && max == 1) ? operand : checked;
    }

    /** Returns any number of repetitions. */
    static Regex star(Regex operand) {
        return repeat(operand, 0, Repeat.UNBOUNDED);
    }

    /** Returns one or more repetitions. */
    static Regex plus(Regex operand) {
        return repeat(operand, 1, Repeat.UNBOUNDED);
    }

    /** Returns the operand or the empty text. */
    static Regex optional(Regex operand) {
        return repeat(operand, 0, 1);
    }
}
