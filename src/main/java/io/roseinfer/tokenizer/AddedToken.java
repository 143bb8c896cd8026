package io.roseinfer.tokenizer;

/**
 * A token that is looked for in the text as it stands, before the text is cut into words; a field of Hugging Face's {@code
 * added_tokens}.
 *
 * @param id the token's id; {@link #NO_ID} while it has none
 * @param content the text to look for, not empty
 * @param special whether it is a marker such as {@code <|endoftext|>} rather than text
 * @param singleWord whether it counts only where no word character touches it
 * @param lstrip whether it swallows the white space before it
 * @param rstrip whether it swallows the white space after it
 * @param normalized whether it is looked for after the tokens that are not, in what those left over
 */
public record AddedToken(
        int id,
        String content,
        boolean special,
        boolean singleWord,
        boolean lstrip,
        boolean rstrip,
        boolean normalized) {

    /** The id of a token that a file names without one. */
    static final int NO_ID = -1;

    /** A special token with every other property off, as {@code <|endoftext|>} is. */
    static AddedToken special(int id, String content) {
        return new AddedToken(id, content, true, false, false, false, false);
    }

    /**
     * Reads the properties of a token whose id stands elsewhere or in the same object.
     *
     * @param isSpecial whether it is special if it does not say
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
