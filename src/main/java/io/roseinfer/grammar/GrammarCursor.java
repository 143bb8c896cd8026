package io.roseinfer.grammar;

import io.roseinfer.base.TokenMask;
import java.util.Arrays;

/**
 * A position in a text of a grammar: the tokens so far, and those that may come next. For one thread at a time.
 *
 * <p>The end-of-text token is not part of masks: it is allowed if {@link #isAccepting}. A mask is empty if no token of
 * the vocabulary fits, which is possible only if it lacks tokens for single bytes.
 */
public final class GrammarCursor {
    private static final int MAX_ALLOWED = 32;

    private final ParseTable table;
    private final ByteClasses classes;
    private final TokenTrie trie;
    private final MaskBuilder masks;
    /** Scratch of {@link #likelyToken}: where a text is fixed, its beginnings are allowed, but hardly more. */
    private final int[] allowed = new int[MAX_ALLOWED];

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

    ParseState state() {
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

    /**
     * Returns the token that is likely to be next, because the grammar fixes the text: the longest one that every allowed token is a part of,
     * or goes on from. {@link TokenMask#NONE} if the text is not fixed.
     *
     * @param mask the tokens that may come next, or some of them, and maybe end-of-text tokens
     */
    public int likelyToken(TokenMask mask) {
        if (isAccepting()) {
            return TokenMask.NONE;
        }
        int count = 0;
        for (int token = mask.nextAllowed(0); token != TokenMask.NONE; token = mask.nextAllowed(token + 1)) {
            if (count == allowed.length) {
                return TokenMask.NONE;
            }
            allowed[count++] = token;
        }
        int best = TokenMask.NONE;
        for (int i = 0; i < count; i++) {
            if (isFixed(i, count) && (best == TokenMask.NONE || length(allowed[i]) > length(best))) {
                best = allowed[i];
            }
        }
        return best;
    }

    /** Returns whether each of some allowed tokens begins with one of them, or is its beginning. */
    private boolean isFixed(int index, int count) {
        byte[] text = trie.vocabulary().bytes(allowed[index]);
        for (int i = 0; i < count; i++) {
            byte[] other = trie.vocabulary().bytes(allowed[i]);
            if (i == index) {
                continue;
            }
            if (text == null || other == null) {
                return false;
            }
            int common = Math.min(text.length, other.length);
            if (!Arrays.equals(text, 0, common, other, 0, common)) {
                return false;
            }
        }
        return true;
    }

    private int length(int token) {
        byte[] text = trie.vocabulary().bytes(token);
        return text == null ? 0 : text.length;
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
