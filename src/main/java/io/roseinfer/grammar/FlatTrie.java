package io.roseinfer.grammar;

import java.util.Arrays;

/**
 * A prefix tree of token texts in depth-first order, without pointers. The descendants of node {@code n} are the nodes
 * from {@code n + 1} to {@code end[n] - 1}. Children are ordered by unsigned byte. Immutable.
 */
final class FlatTrie {
    private static final int LABEL_BITS = 8;

    /** The node's token plus one, or 0, in the upper 24 bits; its last byte in the lower 8. */
    final int[] label;

    /** The node after the last descendant. */
    final int[] end;

    /** The number of bytes of the node's text, minus one. */
    final char[] depth;

    private int size;

    /**
     * Builds the tree.
     *
     * @param tokens ids, sorted by unsigned text, no two with the same text
     */
    FlatTrie(TokenVocabulary vocabulary, int[] tokens) {
        int nodes = 0;
        byte[] before = {};
        for (int token : tokens) {
            byte[] text = text(vocabulary, token);
            nodes += text.length - common(before, text);
            before = text;
        }
        label = new int[nodes];
        end = new int[nodes];
        depth = new char[nodes];
        int[] path = new int[maxLength(vocabulary, tokens)];
        before = new byte[0];
        for (int token : tokens) {
            byte[] text = text(vocabulary, token);
            int shared = common(before, text);
            close(path, shared, before.length);
            for (int i = shared; i < text.length; i++) {
                path[i] = size;
                depth[size] = (char) i;
                label[size++] = text[i] & 0xFF;
            }
            label[size - 1] |= (token + 1) << LABEL_BITS;
            before = text;
        }
        close(path, 0, before.length);
    }

    private void close(int[] path, int from, int to) {
        for (int i = from; i < to; i++) {
            end[path[i]] = size;
        }
    }

    private static int common(byte[] left, byte[] right) {
        int mismatch = Arrays.mismatch(left, right);
        return mismatch < 0 ? left.length : mismatch;
    }

    private static int maxLength(TokenVocabulary vocabulary, int[] tokens) {
        return Arrays.stream(tokens)
                .map(token -> text(vocabulary, token).length)
                .max()
                .orElse(0);
    }

    private static byte[] text(TokenVocabulary vocabulary, int token) {
        byte[] text = vocabulary.bytes(token);
        return text == null ? new byte[0] : text;
    }

    int size() {
        return label.length;
    }

    /** Returns the last byte of a node's text. */
    static byte lastByte(int label) {
        return (byte) label;
    }

    /** Returns the token with the node's text, or -1. */
    static int token(int label) {
        return (label >>> LABEL_BITS) - 1;
    }
}
