package io.roseinfer.sampling;

import io.roseinfer.base.Check;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Collection;

/**
 * The tokens that a sample may take: a bit per token id, set if the token is allowed. Owned by the caller that requests the sample, which does not
 * change it until the step is awaited. Not thread-safe; allocates nothing after construction.
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

    public boolean allows(int token) {
        return (words[token / Long.SIZE] >>> token & 1) != 0;
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
