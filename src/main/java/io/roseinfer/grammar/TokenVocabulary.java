package io.roseinfer.grammar;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that each token of a model stands for. Immutable and thread-safe.
 *
 * <p>A token's bytes need not be well-formed UTF-8: byte-level and byte-fallback tokens may split a code point.
 */
public final class TokenVocabulary {
    private static final int MAX_TOKENS = 1 << 23;
    private static final int MAX_BYTES = 1 << 16;

    private final byte[] @Nullable [] bytes;
    private final Map<String, Integer> special;

    private TokenVocabulary(byte[] @Nullable [] bytes, Map<String, Integer> special) {
        this.bytes = bytes;
        this.special = special;
    }

    /**
     * Creates a vocabulary. The arrays are not copied and must not change.
     *
     * @param bytes for each token id its bytes; null or empty for tokens that stand for no text, such as special tokens
     * @param special ids of special tokens by name, for {@link Expression.TokenReference}; a grammar allows them only by
     *     name, even if {@code bytes} has a text for them
     * @throws IllegalArgumentException if the id of a special token is out of range, there are more than 2^23 tokens or
     *     a token has more than 65,536 bytes
     */
    public static TokenVocabulary of(byte[] @Nullable [] bytes, Map<String, Integer> special) {
        if (bytes.length > MAX_TOKENS) {
            throw new IllegalArgumentException("there are " + bytes.length + " tokens; the maximum is " + MAX_TOKENS);
        }
        for (byte @Nullable [] text : bytes) {
            if (text != null && text.length > MAX_BYTES) {
                throw new IllegalArgumentException(
                        "a token has " + text.length + " bytes; the maximum is " + MAX_BYTES);
            }
        }
        byte[] @Nullable [] texts = bytes.clone();
        special.forEach((name, id) -> {
            if (id < 0 || id >= texts.length) {
                throw new IllegalArgumentException(
                        "special token " + name + " has id " + id + "; ids are 0.." + (texts.length - 1));
            }
            texts[id] = null;
        });
        return new TokenVocabulary(texts, Map.copyOf(special));
    }

    /** Returns the number of token ids. */
    public int size() {
        return bytes.length;
    }

    /** Returns the bytes of a token, or null if it stands for no text; the caller must not change them. */
    byte @Nullable [] bytes(int token) {
        byte[] text = bytes[token];
        return text == null || text.length == 0 ? null : text;
    }

    /** Returns the id of a special token, or null if there is none of this name. */
    @Nullable
    Integer special(String name) {
        return special.get(name);
    }
}
