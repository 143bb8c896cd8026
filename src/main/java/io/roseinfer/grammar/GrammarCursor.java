package io.roseinfer.grammar;

import io.roseinfer.base.TokenMask;
import java.util.Arrays;

/**
 * A position in a text of a grammar: the tokens so far, and which may come next. For one thread at a time.
 *
 * <p>The end-of-text token is not part of masks: it is allowed if {@link #isAccepting}. A mask is empty if no token of
 * the vocabulary fits, which is possible only if it lacks tokens for single bytes.
 */
public final class GrammarCursor {
    private final ParseTable table;
    private final ByteClasses classes;
    private final TokenTrie trie;
    private final MaskBuilder masks;
    private ParseState[] history;
    private int length;

    GrammarCursor(ParseTable table, ByteClasses classes, TokenTrie trie, MaskBuilder masks) {
        this.table = table;
        this.classes = classes;
        this.trie = trie;
        this.masks = masks;
        history = new ParseState[256];
        history[0] = table.start();
    }

    private ParseState state() {
        return history[length];
    }

    /** Returns the number of tokens so far. */
    public int length() {
        return length;
    }

    /**
     * Makes a mask allow exactly the tokens that may come next. Allocates nothing if a cursor of the grammar has been in
     * this state.
     *
     * @param mask over the vocabulary
     */
    public void mask(TokenMask mask) {
        masks.mask(state()).writeTo(mask);
    }

    /**
     * Goes on by a token, if it is allowed.
     *
     * @return whether it is allowed; if not, the cursor is unchanged
     */
    public boolean advance(int token) {
        if (token < 0 || token >= trie.vocabulary().size()) {
            return false;
        }
        byte[] text = trie.vocabulary().bytes(token);
        ParseState next = state();
        if (text == null) {
            next = table.nextToken(next, token);
        } else {
            for (int i = 0; i < text.length && next != table.dead(); i++) {
                next = table.next(next, classes.of(text[i]));
            }
        }
        if (next == table.dead()) {
            return false;
        }
        if (length + 1 == history.length) {
            history = Arrays.copyOf(history, 2 * history.length);
        }
        history[++length] = next;
        return true;
    }

    /** Returns whether the text so far is a text of the grammar, so that it may end here. */
    public boolean isAccepting() {
        return state().isAccepting();
    }

    /** Returns whether the text so far is a text of the grammar and none continues it. */
    public boolean isDone() {
        return state().isAccepting() && state().isFinal();
    }

    /**
     * Takes back the last tokens.
     *
     * @throws IllegalArgumentException unless there are that many
     */
    public void rollback(int tokens) {
        if (tokens < 0 || tokens > length) {
            throw new IllegalArgumentException("cannot take back " + tokens + " of " + length + " tokens");
        }
        Arrays.fill(history, length - tokens + 1, length + 1, null);
        length -= tokens;
    }
}
