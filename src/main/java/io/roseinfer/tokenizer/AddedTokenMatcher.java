package io.roseinfer.tokenizer;

import io.roseinfer.tokenizer.bpe.CharacterClass;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds added tokens in a text: the leftmost, of several that begin there the longest. What follows a match is Hugging Face's
 * {@code AddedVocabulary::find_matches}, including what looks odd there: a match that is refused (special in ordinary text, not
 * a single word) still covers its characters, and no shorter token is looked for in them.
 */
final class AddedTokenMatcher {

    /** Takes the parts of a text in order. */
    interface Parts {
        /** Text between added tokens, {@code text[from .. to)}, not empty. */
        void plain(String text, int from, int to);

        void added(AddedToken token);
    }

    /**
     * A token with what it looks like in the text that is searched.
     *
     * @param text not empty
     */
    private record Wanted(AddedToken token, String text) {}

    /** Tokens by first character, longest first. */
    private final Map<Character, List<Wanted>> byFirst = new HashMap<>();

    private final BitSet firsts = new BitSet();

    /**
     * A matcher of these tokens.
     *
     * @param normalizer what the text that is searched has gone through, and the tokens go through; one of which nothing is left is not
     *     found
     */
    AddedTokenMatcher(List<AddedToken> tokens, Normalizer normalizer) {
        for (AddedToken token : tokens) {
            String text = normalizer.apply(token.content());
            if (!text.isEmpty()) {
                byFirst.computeIfAbsent(text.charAt(0), c -> new ArrayList<>()).add(new Wanted(token, text));
                firsts.set(text.charAt(0));
            }
        }
        Comparator<Wanted> longestFirst =
                Comparator.comparingInt((Wanted wanted) -> wanted.text.length()).reversed();
        byFirst.values().forEach(sameFirst -> sameFirst.sort(longestFirst));
    }

    /** Splits {@code text[from .. to)}; with {@code ordinary} special tokens are text. */
    void split(String text, int from, int to, boolean ordinary, Parts parts) {
        int plainFrom = from;
        int spacesEnd = from;
        int i = from;
        while (i < to) {
            Wanted wanted = firsts.get(text.charAt(i)) ? longestAt(text, i, to) : null;
            if (wanted == null) {
                i++;
                continue;
            }
            AddedToken token = wanted.token;
            int matchEnd = i + wanted.text.length();
            if (!(ordinary && token.special()) && !(token.singleWord() && touchesWord(text, i, matchEnd, from, to))) {
                int start = token.lstrip() ? Math.max(spacesBefore(text, i, plainFrom), plainFrom) : i;
                int end = matchEnd;
                if (token.rstrip()) {
                    // A token of spaces may match again within a run already measured; measuring it again would be
                    // O(n²).
                    spacesEnd = matchEnd < spacesEnd ? spacesEnd : spacesAfter(text, matchEnd, to);
                    end = spacesEnd;
                }
                if (plainFrom < start) {
                    parts.plain(text, plainFrom, start);
                }
                // Nothing is left of a token of spaces when the token before it swallowed them.
                if (start < end) {
                    parts.added(token);
                    plainFrom = end;
                }
            }
            i = matchEnd;
        }
        if (plainFrom < to) {
            parts.plain(text, plainFrom, to);
        }
    }

    private @Nullable Wanted longestAt(String text, int start, int to) {
        for (Wanted wanted : byFirst.getOrDefault(text.charAt(start), List.of())) {
            if (start + wanted.text.length() <= to && text.startsWith(wanted.text, start)) {
                return wanted;
            }
        }
        return null;
    }

    private static boolean touchesWord(String text, int start, int end, int from, int to) {
        return (start > from && CharacterClass.isWord(text.codePointBefore(start)))
                || (end < to && CharacterClass.isWord(text.codePointAt(end)));
    }

    private static int spacesBefore(String text, int start, int from) {
        int i = start;
        while (i > from && CharacterClass.isSpace(text.charAt(i - 1))) {
            i--;
        }
        return i;
    }

    private static int spacesAfter(String text, int end, int to) {
        int i = end;
        while (i < to && CharacterClass.isSpace(text.charAt(i))) {
            i++;
        }
        return i;
    }
}
