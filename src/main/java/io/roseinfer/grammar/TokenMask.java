package io.roseinfer.grammar;

import java.util.Arrays;

/** A set of tokens: the union of shared bit sets and a list. Immutable. */
final class TokenMask {
    private final long[][] parts;
    private final int[] tokens;

    /**
     * Creates a mask. The arrays are not copied.
     *
     * @param parts bit sets over all token ids
     * @param tokens further ids
     */
    TokenMask(long[][] parts, int[] tokens) {
        this.parts = parts;
        this.tokens = tokens;
    }

    /** Adds, for each pair of tokens with the same text of which the first is in the set, the second. */
    static void addTwins(long[] words, int[] twins) {
        for (int i = 0; i < twins.length; i += 2) {
            if (has(words, twins[i])) {
                words[twins[i + 1] >> 6] |= 1L << twins[i + 1];
            }
        }
    }

    static boolean has(long[] words, int token) {
        return (words[token >> 6] >>> token & 1) != 0;
    }

    /** Overwrites the words with the set. */
    void write(long[] words) {
        if (parts.length == 0) {
            Arrays.fill(words, 0);
        } else {
            System.arraycopy(parts[0], 0, words, 0, words.length);
        }
        for (int i = 1; i < parts.length; i++) {
            long[] part = parts[i];
            for (int j = 0; j < words.length; j++) {
                words[j] |= part[j];
            }
        }
        for (int token : tokens) {
            words[token >> 6] |= 1L << token;
        }
    }

    /** Returns whether a token is in the set. */
    boolean has(int token) {
        for (long[] part : parts) {
            if (has(part, token)) {
                return true;
            }
        }
        for (int own : tokens) {
            if (own == token) {
                return true;
            }
        }
        return false;
    }

    /** Returns the set's only token, or -1. */
    int only() {
        int only = -1;
        for (long[] part : parts) {
            for (int i = 0; i < part.length; i++) {
                if (part[i] != 0) {
                    int token = 64 * i + Long.numberOfTrailingZeros(part[i]);
                    if (Long.bitCount(part[i]) > 1 || (only >= 0 && only != token)) {
                        return -1;
                    }
                    only = token;
                }
            }
        }
        for (int token : tokens) {
            if (only >= 0 && only != token) {
                return -1;
            }
            only = token;
        }
        return only;
    }

    /** Returns the approximate size in bytes, without the shared parts. */
    long size() {
        return 64 + 8L * parts.length + 4L * tokens.length;
    }
}
