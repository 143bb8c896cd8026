package io.roseinfer.tokenizer;

import java.util.Map;
import java.util.Optional;

/**
 * The regular expressions by which byte-level tokenizers split text, as options of one scanner. It looks at each
 * character a bounded number of times and does not recurse, so its time is linear for every text.
 *
 * @param foldsCase whether {@code 'S} is a contraction like {@code 's}; then so is {@code 'ſ} (U+017F), which folds to
 *     it
 * @param anyLead whether any character but a newline, letter or number may precede a run of letters in its word;
 *     otherwise only a space
 * @param newlines whether a run of symbols includes the newlines after it, and a run of spaces ends after its last
 *     newline
 * @param numbers how numbers and adjacent characters are split
 * @param digits maximum numbers in one word
 */
record WordRules(boolean foldsCase, boolean anyLead, boolean newlines, Numbers numbers, int digits)
        implements WordSplitter {

    /** Rules for splitting numbers and adjacent characters. */
    public enum Numbers {
        /** A space before them belongs to their word: {@code " ?\p{N}+"}. */
        WITH_SPACE,
        /** They are separate words. */
        ALONE,
        /**
         * The text is split around them first, as by the pre-tokenizer {@code Digits}, so that the part before them
         * ends there.
         */
        CUT_OUT
    }

    /** GPT-2's expression in tokenizer files; its alternatives are tried in order at each position. */
    public static final String GPT2_PATTERN =
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

    /** The expression of Qwen2, Qwen2.5 and Qwen3. */
    public static final String QWEN_PATTERN = newer("\\p{N}");

    /** The expression of Llama 3 and of OpenAI's {@code cl100k_base}. */
    public static final String LLAMA3_PATTERN = newer("\\p{N}{1,3}");

    public static final WordRules GPT2 = older(Numbers.WITH_SPACE, Integer.MAX_VALUE);

    /** GPT-2's expression after splitting off each digit. */
    public static final WordRules GPT2_SINGLE_DIGITS = older(Numbers.CUT_OUT, 1);

    /** GPT-2's expression after splitting off each run of digits. */
    public static final WordRules GPT2_DIGIT_RUNS = older(Numbers.CUT_OUT, Integer.MAX_VALUE);

    public static final WordRules QWEN = new WordRules(true, true, true, Numbers.ALONE, 1);
    public static final WordRules LLAMA3 = new WordRules(true, true, true, Numbers.ALONE, 3);

    private static final Map<String, WordRules> BY_PATTERN =
            Map.of(GPT2_PATTERN, GPT2, QWEN_PATTERN, QWEN, LLAMA3_PATTERN, LLAMA3);

    private static WordRules older(Numbers numbers, int digits) {
        return new WordRules(false, false, false, numbers, digits);
    }

    private static String newer(String numbers) {
        return "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" + numbers
                + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    }

    /** Returns the rules of an expression that exactly equals one of the above. */
    public static Optional<WordRules> ofPattern(String pattern) {
        return Optional.ofNullable(BY_PATTERN.get(pattern));
    }

    @Override
    public int wordEnd(CharSequence text, int start, int end) {
        char first = text.charAt(start);
        if (first == '\'') {
            int contraction = contractionLength(text, start, end);
            if (contraction > 0) {
                return start + contraction;
            }
        }
        byte kind = classAt(text, start, end);
        if (kind == CharacterClass.LETTER) {
            return runEnd(text, start, end, CharacterClass.LETTER);
        }
        if (kind == CharacterClass.NUMBER) {
            return numbersEnd(text, start, end);
        }
        int second = start + width(first);
        if (second < end) {
            byte next = classAt(text, second, end);
            if (next == CharacterClass.LETTER && leadsLetters(first)) {
                return runEnd(text, second, end, CharacterClass.LETTER);
            }
            if (next == CharacterClass.OTHER && first == ' ') {
                return symbolsEnd(text, second, end);
            }
            if (next == CharacterClass.NUMBER && first == ' ' && numbers == Numbers.WITH_SPACE) {
                return numbersEnd(text, second, end);
            }
        }
        return kind == CharacterClass.OTHER ? symbolsEnd(text, start, end) : spacesEnd(text, start, end);
    }

    /** Returns the length of {@code 's 't 're 've 'm 'll 'd} at {@code start}, or 0. */
    private int contractionLength(CharSequence text, int start, int end) {
        if (start + 1 >= end) {
            return 0;
        }
        char second = folded(text.charAt(start + 1));
        char third = start + 2 < end ? folded(text.charAt(start + 2)) : '\0';
        return switch (second) {
            case 's', 't', 'm', 'd' -> 2;
            case 'r', 'v' -> third == 'e' ? 3 : 0;
            case 'l' -> third == 'l' ? 3 : 0;
            default -> 0;
        };
    }

    private char folded(char c) {
        if (!foldsCase) {
            return c;
        }
        return c == '\u017f' ? 's' : c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
    }

    private boolean leadsLetters(char first) {
        return first == ' ' || (anyLead && !isNewline(first));
    }

    private int numbersEnd(CharSequence text, int start, int end) {
        int i = start;
        for (int count = 0; count < digits && i < end && classAt(text, i, end) == CharacterClass.NUMBER; count++) {
            i += width(text.charAt(i));
        }
        return i;
    }

    private int symbolsEnd(CharSequence text, int start, int end) {
        int i = runEnd(text, start, end, CharacterClass.OTHER);
        while (newlines && i < end && isNewline(text.charAt(i))) {
            i++;
        }
        return i;
    }

    /** Returns the end of a word of white space, which is always in the Basic Multilingual Plane. */
    private int spacesEnd(CharSequence text, int start, int end) {
        int run = runEnd(text, start, end, CharacterClass.SPACE);
        if (newlines) {
            for (int i = run; i > start; i--) {
                if (isNewline(text.charAt(i - 1))) {
                    return i;
                }
            }
        }
        // \s+(?!\S) leaves the last space to what follows, unless it is the only one, which \s+ matches.
        boolean whole = run == end
                || run == start + 1
                || (numbers == Numbers.CUT_OUT && classAt(text, run, end) == CharacterClass.NUMBER);
        return whole ? run : run - 1;
    }

    private static boolean isNewline(char c) {
        return c == '\n' || c == '\r';
    }

    private static int runEnd(CharSequence text, int start, int end, byte kind) {
        int i = start;
        while (i < end && classAt(text, i, end) == kind) {
            i += width(text.charAt(i));
        }
        return i;
    }

    private static int width(char first) {
        return Character.isHighSurrogate(first) ? 2 : 1;
    }

    private static byte classAt(CharSequence text, int index, int end) {
        char c = text.charAt(index);
        boolean pair = Character.isHighSurrogate(c) && index + 1 < end;
        return CharacterClass.of(pair ? Character.toCodePoint(c, text.charAt(index + 1)) : c);
    }
}
