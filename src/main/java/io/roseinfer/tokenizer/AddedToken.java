package io.roseinfer.tokenizer;

/**
 * A token that is matched in the text before it is split into words; an element of Hugging Face's {@code added_tokens}.
 *
 * @param id the token's id, or {@link #NO_ID} if it has none yet
 * @param content the text to match, not empty
 * @param special whether it is a marker such as {@code <|endoftext|>} rather than text
 * @param singleWord whether it matches only without an adjacent word character
 * @param lstrip whether it consumes the white space before it
 * @param rstrip whether it consumes the white space after it
 * @param normalized whether it is matched in normalized text, after the tokens that are not
 */
public record AddedToken(
        int id,
        String content,
        boolean special,
        boolean singleWord,
        boolean lstrip,
        boolean rstrip,
        boolean normalized) {

    /** The id of a token that a file lists without one. */
    static final int NO_ID = -1;

    /** Returns a special token with all other properties off, such as {@code <|endoftext|>}. */
    static AddedToken special(int id, String content) {
        return new AddedToken(id, content, true, false, false, false, false);
    }

    /**
     * Reads the properties of a token.
     *
     * @param isSpecial the default of {@code special}
     */
    static AddedToken read(JsonView token, int id, boolean isSpecial) {
        boolean special = token.field("special").flag(isSpecial);
        return new AddedToken(
                id,
                token.object().field("content").text(),
                special,
                token.field("single_word").flag(false),
                token.field("lstrip").flag(false),
                token.field("rstrip").flag(false),
                token.field("normalized").flag(!special));
    }

    AddedToken withId(int value) {
        return new AddedToken(value, content, special, singleWord, lstrip, rstrip, normalized);
    }

    AddedToken asSpecial() {
        return new AddedToken(id, content, true, singleWord, lstrip, rstrip, normalized);
    }
}
