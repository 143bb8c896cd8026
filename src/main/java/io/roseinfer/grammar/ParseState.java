package io.roseinfer.grammar;

import org.jspecify.annotations.Nullable;

/**
 * The parser's state after a text: the lexemes that have begun, each with the rest of its language and the item after
 * it. An automaton over byte classes, infinite for recursive grammars, has these states; {@link #next} caches its visited
 * part.
 *
 * <p>Fields that are not final are caches of immutable objects, read without a lock.
 */
final class ParseState {
    /** The rest of a lexeme and the item after it. */
    record Scan(ByteRegex rest, Item item) {}

    /** A special token that is allowed and the item after it. */
    record TokenScan(int token, Item item) {}

    private final Scan[] scans;
    private final TokenScan[] tokens;
    private final boolean accepting;

    /** States by byte class; null where not yet computed. */
    @Nullable
    ParseState @Nullable [] next;

    @Nullable
    MaskParts mask;

    /**
     * Creates a state.
     *
     * @param scans distinct, in a canonical order
     * @param tokens distinct, in a canonical order
     * @param accepting whether the text so far is a text of the grammar
     */
    ParseState(Scan[] scans, TokenScan[] tokens, boolean accepting) {
        this.scans = scans;
        this.tokens = tokens;
        this.accepting = accepting;
    }

    Scan[] scans() {
        return scans;
    }

    TokenScan[] tokens() {
        return tokens;
    }

    boolean isAccepting() {
        return accepting;
    }

    /** Returns whether nothing may follow. */
    boolean isFinal() {
        return scans.length == 0 && tokens.length == 0;
    }
}
