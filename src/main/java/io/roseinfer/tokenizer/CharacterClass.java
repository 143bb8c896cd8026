package io.roseinfer.tokenizer;

/**
 * The four character classes of the regular expressions: {@code \p{L}}, {@code \p{N}}, {@code \s} (Unicode's
 * White_Space) and the rest.
 */
final class CharacterClass {
    public static final byte LETTER = 0;
    public static final byte NUMBER = 1;
    public static final byte SPACE = 2;
    public static final byte OTHER = 3;

    private static final byte[] ASCII = new byte[128];

    static {
        for (int c = 0; c < ASCII.length; c++) {
            ASCII[c] = classify(c);
        }
    }

    private CharacterClass() {}

    /** Returns the class of a code point. */
    public static byte of(int codePoint) {
        return codePoint < ASCII.length ? ASCII[codePoint] : classify(codePoint);
    }

    /** Returns whether the code point has the property White_Space; all such are in the Basic Multilingual Plane. */
    public static boolean isSpace(int codePoint) {
        return of(codePoint) == SPACE;
    }

    /**
     * Returns whether a code point is {@code \w} by Unicode Technical Standard 18, annex C; {@code single_word} tokens
     * must not touch those.
     */
    public static boolean isWord(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.NON_SPACING_MARK,
                    Character.ENCLOSING_MARK,
                    Character.COMBINING_SPACING_MARK,
                    Character.DECIMAL_DIGIT_NUMBER,
                    Character.CONNECTOR_PUNCTUATION -> true;
            default -> Character.isAlphabetic(codePoint) || codePoint == 0x200c || codePoint == 0x200d;
        };
    }

    private static byte classify(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.UPPERCASE_LETTER,
                    Character.LOWERCASE_LETTER,
                    Character.TITLECASE_LETTER,
                    Character.MODIFIER_LETTER,
                    Character.OTHER_LETTER -> LETTER;
            case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER -> NUMBER;
            case Character.SPACE_SEPARATOR, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> SPACE;
            default -> (codePoint >= '\t' && codePoint <= '\r') || codePoint == 0x85 ? SPACE : OTHER;
        };
    }
}
