package io.roseinfer.grammar;

import java.util.List;

/** The right side of a grammar's rule. Immutable. */
public sealed interface Expression {
    /** The empty text. */
    Expression EMPTY = new Sequence(List.of());

    /** Texts of a regular language. */
    record Terminal(Regex regex) implements Expression {}

    /** Texts of all parts, in order; the empty text if there is none. */
    record Sequence(List<Expression> parts) implements Expression {
        public Sequence {
            parts = List.copyOf(parts);
        }
    }

    /** Texts of one of the alternatives; no text if there is none. */
    record Choice(List<Expression> alternatives) implements Expression {
        public Choice {
            alternatives = List.copyOf(alternatives);
        }
    }

    /**
     * From {@code min} to {@code max} texts of the operand, in order. A bounded repetition costs a rule per repetition.
     *
     * @param max the maximum, or {@link #UNBOUNDED}
     */
    record Repeat(Expression operand, int min, int max) implements Expression {
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

    /** Texts of another rule of the grammar. */
    record Reference(String rule) implements Expression {}

    /** One special token of the vocabulary, by name; no text stands for it. */
    record TokenReference(String token) implements Expression {}

    /** Returns the texts of a regular language. */
    static Expression terminal(Regex regex) {
        return regex.equals(Regex.EMPTY) ? EMPTY : new Terminal(regex);
    }

    /** Returns one text. */
    static Expression literal(String text) {
        return terminal(Regex.literal(text));
    }

    /** Returns the parts in order. */
    static Expression sequence(Expression... parts) {
        return sequence(List.of(parts));
    }

    /** Returns the parts in order. */
    static Expression sequence(List<Expression> parts) {
        return parts.size() == 1 ? parts.getFirst() : new Sequence(parts);
    }

    /** Returns the alternatives. */
    static Expression choice(Expression... alternatives) {
        return choice(List.of(alternatives));
    }

    /** Returns the alternatives. */
    static Expression choice(List<Expression> alternatives) {
        return alternatives.size() == 1 ? alternatives.getFirst() : new Choice(alternatives);
    }

    /** Returns the repetition; see {@link Repeat}. */
    static Expression repeat(Expression operand, int min, int max) {
        return min == 1 && max == 1 ? operand : new Repeat(operand, min, max);
    }

    /** Returns the operand or the empty text. */
    static Expression optional(Expression operand) {
        return new Repeat(operand, 0, 1);
    }

    /** Returns the texts of another rule. */
    static Expression reference(String rule) {
        return new Reference(rule);
    }
}
