package io.roseinfer.tokenizer;

import io.roseinfer.base.Check;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SortedMap;

/**
 * What each id stands for: its bytes, and whether it is special. Ids may have holes. Immutable; all bytes lie in one array, so
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
     * The ids whose tokens differ from others.
     *
     * @param special markers rather than text
     * @param fallbackBytes tokens of byte fallback, which are one byte each
     * @param ownSpaces tokens that are spelt with spaces in a vocabulary that spells spaces otherwise
     */
    record Kinds(BitSet special, BitSet fallbackBytes, BitSet ownSpaces) {
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
     * A vocabulary of the given bytes by id.
     *
     * @param tokens the bytes of each id; ids are not negative, an id that is missing is a hole
     * @param start what the beginning of a text loses
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
        // Holes before this id end where the token before them ended.
        int last = present.length();
        Arrays.fill(offsets, last, id + 1, offsets[last]);
        System.arraycopy(token, 0, bytes, offsets[id], token.length);
        offsets[id + 1] = offsets[id] + token.length;
        present.set(id);
    }

    /** One more than the largest id, holes included: the least width of logits that has a column for every token. */
    public int size() {
        return offsets.length - 1;
    }

    /** Whether there is a token of this id; any number may be asked about. */
    public boolean contains(int id) {
        return id >= 0 && present.get(id);
    }

    /** Whether the id is a special token, such as {@code <|endoftext|>}; false for an id that is not there. */
    public boolean isSpecial(int id) {
        return id >= 0 && kinds.special.get(id);
    }

    /** Whether an id that is there is a token of byte fallback. */
    boolean isFallbackByte(int id) {
        return kinds.fallbackBytes.get(id);
    }

    /** The byte (0..255) of a token of byte fallback. */
    int fallbackByte(int id) {
        return bytes[offsets[id]] & 0xff;
    }

    /** Whether an id that is there is spelt with spaces where the vocabulary spells spaces otherwise. */
    boolean hasOwnSpaces(int id) {
        return kinds.ownSpaces.get(id);
    }

    /** What the beginning of a text loses. */
    TokenDecoder.TextStart start() {
        return start;
    }

    /** A copy of the id's bytes, which need not be whole characters; empty for an id that is not there. */
    public byte[] bytes(int id) {
        return contains(id) ? Arrays.copyOfRange(bytes, offsets[id], offsets[id + 1]) : new byte[0];
    }

    /** Feeds the bytes of an id that is there to a decoder. */
    void decode(int id, Utf8Decoder decoder, StringBuilder out) {
        for (int i = offsets[id]; i < offsets[id + 1]; i++) {
            decoder.accept(bytes[i] & 0xff, out);
        }
    }
}
