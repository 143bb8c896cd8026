package io.roseinfer.grammar;

import io.roseinfer.base.TokenMask;

/**
 * The tokens that are prefixes of a lexeme, hence allowed whatever follows the lexeme, and where in the trees of tokens
 * the lexeme may end. Immutable.
 *
 * @param mask the tokens, not to be changed
 * @param ends nodes with a text of the lexeme and descendants, ascending, by tree; see {@link MaskBuilder}
 */
record LexemeMask(TokenMask mask, int[][] ends) {
    /** Stands for a lexeme whose tokens are few; it has no mask. */
    static final LexemeMask NARROW = new LexemeMask(new TokenMask(0), new int[0][]);

    /** Returns whether the lexeme has no mask. */
    boolean isNarrow() {
        return mask.vocabularySize() == 0;
    }

    /** Returns the approximate size in bytes. */
    long size() {
        long size = 64L + mask.vocabularySize() / 8;
        for (int[] nodes : ends) {
            size += 16 + 4L * nodes.length;
        }
        return size;
    }
}
