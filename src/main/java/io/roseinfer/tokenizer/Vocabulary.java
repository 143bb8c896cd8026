package io.roseinfer.tokenizer;

import io.roseinfer.base.Check;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SortedMap;

/**
 * The bytes of each id, and whether it is special. Some ids may be unused. Immutable; all bytes are in one array, so
 * reading an id allocates nothing.
 */
public final class Vocabulary {
    private final byte[] bytes;

    /** The bytes of an id are {@code offsets[id] .. offsets[id + 1]}. */
    private final int[] offsets;

    private final BitSet present = new BitSet();
    private final Kinds kinds;
    private final TokenDecoder.TextStart start;

    /**
     * The ids of special kinds of tokens.
     *
     * @param special markers rather than text
     * @param fallbackBytes byte-fallback tokens of one byte each
     * @param literalSpaces tokens with literal spaces, in a vocabulary that writes spaces differently
     */
    record Kinds(BitSet special, BitSet fallbackBytes, BitSet literalSpaces) {
        Kinds() {
            this(new BitSet(), new BitSet(), new BitSet());
        }
    }

    private Vocabulary(byte[] bytes, int[] offsets, Kinds kinds, TokenDecoder.TextStart start) {
        this.bytes = bytes;
        this.offsets = offsets;
        this.kinds = kinds;
        this.start = start;
    }

    /**
     * Creates a vocabulary.
     *
     * @param tokens the bytes of each id; ids are not negative, missing ids are unused
     * @param start the characters removed from a text's beginning
     */
    static Vocabulary of(SortedMap<Integer, byte[]> tokens, Kinds kinds, TokenDecoder.TextStart start) {
        int size = tokens.isEmpty() ? 0 : tokens.lastKey() + 1;
        int total = tokens.values().stream().mapToInt(token -> token.length).reduce(0, Math::addExact);
        var vocabulary = new Vocabulary(new byte[total], new int[size + 1], kinds, start);
        tokens.forEach(vocabulary::append);
        return vocabulary;
    }

    private void append(int id, byte[] token) {
        Check.that(id >= 0, "a token id is negative");
        // Unused ids before this one end where the token before them ended.
        int last = present.length();
        Arrays.fill(offsets, last, id + 1, offsets[last]);
        System.arraycopy(token, 0, bytes, offsets[id], token.length);
        offsets[id + 1] = offsets[id] + token.length;
        present.set(id);
    }

    /** Returns one more than the largest id, including unused ids: the minimum width of logits. */
    public int size() {
        return offsets.length - 1;
    }

    /** Returns whether there is a token with this id; any number is allowed. */
    public boolean contains(int id) {
        return id >= 0 && present.get(id);
    }

    /** Returns whether the id is a special token, such as {@code <|endoftext|>}; false for an unused id. */
    public boolean isSpecial(int id) {
        return id >= 0 && kinds.special.get(id);
    }

    /** Returns whether a used id is a byte-fallback token. */
    boolean isFallbackByte(int id) {
        return kinds.fallbackBytes.get(id);
    }

    /** Returns the byte (0..255) of a byte-fallback token. */
    int fallbackByte(int id) {
        return bytes[offsets[id]] & 0xff;
    }

    /** Returns whether a used id has literal spaces in a vocabulary that writes spaces differently. */
    boolean hasLiteralSpaces(int id) {
        return kinds.literalSpaces.get(id);
    }

    /** Returns the characters removed from a text's beginning. */
    TokenDecoder.TextStart start() {
        return start;
    }

    /** Returns a copy of the id's bytes, which may be part of a character; empty for an unused id. */
    public byte[] bytes(int id) {
        return contains(id) ? Arrays.copyOfRange(bytes, offsets[id], offsets[id + 1]) : new byte[0];
    }

    /** Feeds the bytes of a used id to a decoder. */
    void decode(int id, Utf8Decoder decoder, StringBuilder out) {
        for (int i = offsets[id]; i < offsets[id + 1]; i++) {
            decoder.accept(bytes[i] & 0xff, out);
        }
    }
}
