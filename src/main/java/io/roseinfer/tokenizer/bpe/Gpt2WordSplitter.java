package io.roseinfer.tokenizer.bpe;

/**
 * GPT-2's regular expression, by hand: each character is looked at a bounded number of times and nothing recurses, so a
 * megabyte of one letter or of spaces costs what any other megabyte does.
 */
public final class Gpt2WordSplitter implements WordSplitter {
    /** The expression as tokenizer files spell it; its alternatives are tried in order at each position. */
    public static final String PATTERN =
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

    @Override
    public int wordEnd(CharSequence text, int start, int end) {
        char first = text.charAt(start);
        if (first == '\'') {
            int contraction = contractionLength(text, start, end);
            if (contraction > 0) {
                return start + contraction;
            }
        }
        // " ?X+": one leading space belongs to the run that follows it.
        int body = first == ' ' && start + 1 < end ? start + 1 : start;
        byte kind = classAt(text, body, end);
        if (kind != CharacterClass.SPACE) {
            return runEnd(text, body, end, kind);
        }
        int spacesEnd = runEnd(text, start, end, CharacterClass.SPACE);
        // \s+(?!\S) gives the last space back to the word after it, unless it is the only one: then \s+ takes it.
        return spacesEnd == end || spacesEnd == start + 1 ? spacesEnd : spacesEnd - 1;
    }

    /** The length of {@code 's 't 're 've 'm 'll 'd} at {@code start}, or 0. */
    private static int contractionLength(CharSequence text, int start, int end) {
        if (start + 1 >= end) {
            return 0;
        }
        char second = text.charAt(start + 1);
        char third = start + 2 < end ? text.charAt(start + 2) : '\0';
        return switch (second) {
            case 's', 't', 'm', 'd' -> 2;
            case 'r', 'v' -> third == 'e' ? 3 : 0;
            case 'l' -> third == 'l' ? 3 : 0;
            default -> 0;
        };
    }

    private static int runEnd(CharSequence text, int start, int end, byte kind) {
        int i = start;
        while (i < end && classAt(text, i, end) == kind) {
            i += Character.isHighSurrogate(text.charAt(i)) ? 2 : 1;
        }
        return i;
    }

    private static byte classAt(CharSequence text, int index, int end) {
        char c = text.charAt(index);
        boolean pair = Character.isHighSurrogate(c) && index + 1 < end;
        return CharacterClass.of(pair ? Character.toCodePoint(c, text.charAt(index + 1)) : c);
    }
}
