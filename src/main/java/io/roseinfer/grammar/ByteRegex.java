package io.roseinfer.grammar;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A regular language over bytes: a node of {@link ByteRegexTable}, which has at most one node for a structure. It is
 * also a state of the language's deterministic automaton; {@link #next} has its transitions.
 *
 * <p>Fields that are not final are caches. Those read without the table's lock are references to immutable objects.
 */
final class ByteRegex {
    /** The operators. */
    enum Kind {
        NONE,
        EMPTY,
        BYTES,
        CONCAT,
        OR,
        AND,
        NOT,
        REPEAT
    }

    /** Answers that are computed when first needed. */
    enum Known {
        UNKNOWN,
        YES,
        NO
    }

    final long id;
    final Kind kind;
    final ByteSet bytes;
    final ByteRegex[] operands;
    final int min;
    final int max;
    final boolean nullable;
    /** Whether AND or NOT occurs, so that the language may be empty although the node is not NONE. */
    final boolean complex;
    /** Whether a repetition occurs with a bound beyond the length of the longest token. */
    final boolean counted;
    /** Depth of the recursion that computes a derivative. */
    final int depth;

    /** Derivatives by byte class, also empty ones; used under the table's lock; null if not yet computed. */
    ByteRegex @Nullable [] row;

    /** Derivatives by byte class, NONE if empty; null where not yet computed. */
    @Nullable
    ByteRegex @Nullable [] next;

    /** Whether the language has a text; used if {@link #complex}. */
    Known live = Known.UNKNOWN;

    /** Whether the language has a text that is not empty; used if {@link #complex}. */
    Known continues = Known.UNKNOWN;

    /** The language with the same texts up to the length of the longest token; null if not yet computed. */
    @Nullable
    ByteRegex horizon;

    /** The state after one plain character; null if not yet computed. */
    @Nullable
    PlainStep plain;

    /** Tokens allowed within the language; null if not yet computed. */
    @Nullable
    LexemeMask mask;

    ByteRegex(long id, Kind kind, ByteSet bytes, ByteRegex[] operands, int min, int max, int horizon) {
        this.id = id;
        this.kind = kind;
        this.bytes = bytes;
        this.operands = operands;
        this.min = min;
        this.max = max;
        boolean anyComplex = kind == Kind.AND || kind == Kind.NOT;
        boolean anyCounted =
                kind == Kind.REPEAT && (min > horizon + 1 || (max != Regex.Repeat.UNBOUNDED && max > horizon));
        int deepest = 0;
        for (int i = 0; i < operands.length; i++) {
            ByteRegex operand = operands[i];
            anyComplex |= operand.complex;
            anyCounted |= operand.counted;
            if (kind != Kind.CONCAT || i == 0 || operands[0].nullable) {
                deepest = Math.max(deepest, operand.depth);
            }
        }
        complex = anyComplex;
        counted = anyCounted;
        depth = deepest + 1;
        nullable = switch (kind) {
            case NONE, BYTES -> false;
            case EMPTY -> true;
            case CONCAT, AND -> Arrays.stream(operands).allMatch(operand -> operand.nullable);
            case OR -> Arrays.stream(operands).anyMatch(operand -> operand.nullable);
            case NOT -> !operands[0].nullable;
            case REPEAT -> min == 0 || operands[0].nullable;
        };
    }

    @Override
    public int hashCode() {
        return Long.hashCode(id);
    }
}
