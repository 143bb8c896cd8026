package io.roseinfer.base;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Collection;

/**
 * A set of token ids: a bit per id, set if the token is allowed. A mask that a sample uses must not change until its
 * step is awaited. Not thread-safe; allocates nothing after construction.
 */
public final class TokenMask {
    /** Returned by {@link #nextAllowed} if no token is allowed. */
    public static final int NONE = -1;

    private final int vocabularySize;
    /** Bits beyond the vocabulary are always 0. */
    private final long[] words;

    /** Creates a mask that allows no token. */
    public TokenMask(int vocabularySize) {
        this.vocabularySize = vocabularySize;
        this.words = new long[Math.ceilDiv(vocabularySize, Long.SIZE)];
    }

    public int vocabularySize() {
        return vocabularySize;
    }

    /** Returns a mask that allows these tokens. */
    public static TokenMask of(int vocabularySize, Collection<Integer> tokens) {
        TokenMask mask = new TokenMask(vocabularySize);
        tokens.forEach(mask::allow);
        return mask;
    }

    /** Allows a token in {@code [0, vocabularySize)}. */
    public void allow(int token) {
        words[Check.index(token, vocabularySize, "allowed token") / Long.SIZE] |= 1L << token;
    }

    /** Forbids a token in {@code [0, vocabularySize)}. */
    public void forbid(int token) {
        words[Check.index(token, vocabularySize, "forbidden token") / Long.SIZE] &= ~(1L << token);
    }

    /** Forbids all tokens. */
    public void clear() {
        Arrays.fill(words, 0);
    }

    /** Allows exactly the tokens that another mask over the same vocabulary allows. */
    public void set(TokenMask other) {
        System.arraycopy(other.words, 0, words, 0, requireSameSize(other));
    }

    /** Allows also the tokens that another mask over the same vocabulary allows. */
    public void or(TokenMask other) {
        for (int i = requireSameSize(other) - 1; i >= 0; i--) {
            words[i] |= other.words[i];
        }
    }

    /** Forbids the tokens that another mask over the same vocabulary forbids. */
    public void and(TokenMask other) {
        for (int i = requireSameSize(other) - 1; i >= 0; i--) {
            words[i] &= other.words[i];
        }
    }

    private int requireSameSize(TokenMask other) {
        Check.that(
                other.vocabularySize == vocabularySize,
                "a mask of %d tokens is combined with one of %d",
                vocabularySize,
                other.vocabularySize);
        return words.length;
    }

    public boolean allows(int token) {
        return (words[token / Long.SIZE] >>> token & 1) != 0;
    }

    public boolean isEmpty() {
        return nextAllowed(0) == NONE;
    }

    /** Returns the first allowed token from {@code from} on, or {@link #NONE}. */
    public int nextAllowed(int from) {
        int word = from / Long.SIZE;
        long bits = word < words.length ? words[word] & -1L << from : 0;
        while (bits == 0) {
            if (++word >= words.length) {
                return NONE;
            }
            bits = words[word];
        }
        return word * Long.SIZE + Long.numberOfTrailingZeros(bits);
    }

    /** Returns the 32-bit words that hold a mask over this vocabulary. */
    public static int words(int vocabularySize) {
        return Math.ceilDiv(vocabularySize, Integer.SIZE);
    }

    /** Copies the bits as {@link #words} little-endian 32-bit words: token t is bit t mod 32 of word t / 32. */
    public void copyTo(MemorySegment target, long at) {
        for (int i = 0; i < words(vocabularySize); i++) {
            int word = (int) (words[i / 2] >>> (Integer.SIZE * (i % 2)));
            target.set(ValueLayout.JAVA_INT, at + 4L * i, word);
        }
    }
}
