package io.roseinfer.tokenizer;

import io.roseinfer.base.WorkCounter;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds added tokens in a text: the leftmost, and the longest of those that begin there. What follows a match is the
 * behavior of Hugging Face's {@code AddedVocabulary::find_matches}, including its quirks. A rejected match (special in
 * ordinary text, not a single word) still covers its characters, so no shorter token is matched in them.
 */
final class AddedTokenMatcher {

    /** Receives the parts of a text in order. */
    interface Parts {
        /** Text between added tokens, {@code text[from .. to)}, not empty. */
        void plain(String text, int from, int to);

        void added(AddedToken token);
    }

    /**
     * A token with its text after normalization.
     *
     * @param text not empty
     */
    private record Wanted(AddedToken token, String text) {}

    /** A trie node: a prefix of some tokens' texts. */
    private static final class Node {
        private final Map<Character, Node> next = new HashMap<>();

        /** The token whose text is this prefix. */
        private @Nullable Wanted wanted;
    }

    /** The trie of all tokens' texts. */
    private final Node root = new Node();

    /** The first characters of all tokens' texts. */
    private final BitSet firsts = new BitSet();

    /**
     * Creates a matcher for these tokens.
     *
     * @param normalizer the normalizer of the searched text, which is applied to the tokens; a token that becomes empty
     *     is not found
     */
    AddedTokenMatcher(List<AddedToken> tokens, Normalizer normalizer) {
        for (AddedToken token : tokens) {
            String text = normalizer.apply(token.content(), new WorkCounter());
            if (!text.isEmpty()) {
                add(new Wanted(token, text));
            }
        }
    }

    /** Adds a token; of several with the same text the first is used. */
    private void add(Wanted wanted) {
        Node node = root;
        for (int i = 0; i < wanted.text.length(); i++) {
            node = node.next.computeIfAbsent(wanted.text.charAt(i), c -> new Node());
        }
        if (node.wanted == null) {
            node.wanted = wanted;
        }
        firsts.set(wanted.text.charAt(0));
    }

    /**
     * Splits {@code text[from .. to)}; with {@code ordinary}, special tokens are text.
     *
     * @param work counts the characters read
     */
    void split(String text, int from, int to, boolean ordinary, Parts parts, WorkCounter work) {
        int plainFrom = from;
        int spacesEnd = from;
        int i = from;
        while (i < to) {
            work.add(1);
            Wanted wanted = firsts.get(text.charAt(i)) ? longestAt(text, i, to, work) : null;
            if (wanted == null) {
                i++;
                continue;
            }
            AddedToken token = wanted.token;
            int matchEnd = i + wanted.text.length();
            if (!(ordinary && token.special()) && !(token.singleWord() && touchesWord(text, i, matchEnd, from, to))) {
                int start = token.lstrip() ? Math.max(spacesBefore(text, i, plainFrom, work), plainFrom) : i;
                int end = matchEnd;
                if (token.rstrip()) {
                    // A token of spaces may match again within a measured run; measuring it again would be O(n²).
                    spacesEnd = matchEnd < spacesEnd ? spacesEnd : spacesAfter(text, matchEnd, to, work);
                    end = spacesEnd;
                }
                if (plainFrom < start) {
                    parts.plain(text, plainFrom, start);
                }
                // A token of spaces is empty if the token before it consumed them.
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

    private @Nullable Wanted longestAt(String text, int start, int to, WorkCounter work) {
        Wanted longest = null;
        Node node = root;
        for (int i = start; i < to; i++) {
            work.add(1);
            node = node.next.get(text.charAt(i));
            if (node == null) {
                break;
            }
            if (node.wanted != null) {
                longest = node.wanted;
            }
        }
        return longest;
    }

    private static boolean touchesWord(String text, int start, int end, int from, int to) {
        return (start > from && CharacterClass.isWord(text.codePointBefore(start)))
                || (end < to && CharacterClass.isWord(text.codePointAt(end)));
    }

    private static int spacesBefore(String text, int start, int from, WorkCounter work) {
        int i = start;
        while (i > from && CharacterClass.isSpace(text.charAt(i - 1))) {
            work.add(1);
            i--;
        }
        return i;
    }

    private static int spacesAfter(String text, int end, int to, WorkCounter work) {
        int i = end;
        while (i < to && CharacterClass.isSpace(text.charAt(i))) {
            work.add(1);
            i++;
        }
        return i;
    }
}
