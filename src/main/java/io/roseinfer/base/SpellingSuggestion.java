package io.roseinfer.base;

import java.util.Collection;
import java.util.List;

/** Suggests the allowed words that a misspelled one may stand for, for error messages. */
public final class SpellingSuggestion {
    /** One edit is allowed per this many characters. With more, {@code gpu} would suggest {@code cpu}. */
    private static final int CHARACTERS_PER_SLIP = 4;

    private SpellingSuggestion() {}

    /** Returns the allowed words with the fewest edits, in their given order; empty if none is close. */
    public static List<String> nearest(String text, Collection<String> allowed) {
        List<String> near = allowed.stream().filter(word -> isNear(text, word)).toList();
        int fewest = near.stream().mapToInt(word -> distance(text, word)).min().orElse(0);
        return near.stream().filter(word -> distance(text, word) == fewest).toList();
    }

    /** Returns the end of a message, {@code ; did you mean WORD?}, or an empty string if no word is close. */
    public static String suggestion(String text, Collection<String> allowed) {
        return suggestion(nearest(text, allowed));
    }

    /** Returns the end of a message that suggests these words, or an empty string if there are none. */
    public static String suggestion(List<String> words) {
        return words.isEmpty() ? "" : "; did you mean " + String.join(" or ", words) + "?";
    }

    /** Returns whether few edits lead to a word. The lengths are compared first, so long texts cost little. */
    private static boolean isNear(String text, String word) {
        int slips = Math.max(text.length(), word.length()) / CHARACTERS_PER_SLIP;
        return Math.abs(text.length() - word.length()) <= slips && distance(text, word) <= slips;
    }

    /**
     * Returns the optimal string alignment distance: the minimum number of insertions, deletions, replacements and
     * swaps of adjacent characters, with no substring edited twice.
     */
    static int distance(String from, String to) {
        int[][] edits = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                edits[i][j] = i == 0 || j == 0 ? i + j : edits(edits, from, i, to, j);
            }
        }
        return edits[from.length()][to.length()];
    }

    /** Returns the distance between the first i and the first j characters, from the distances of shorter prefixes. */
    private static int edits(int[][] edits, String from, int i, String to, int j) {
        int replaced = edits[i - 1][j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        int fewest = Math.min(replaced, 1 + Math.min(edits[i - 1][j], edits[i][j - 1]));
        boolean exchanged =
                i > 1 && j > 1 && from.charAt(i - 1) == to.charAt(j - 2) && from.charAt(i - 2) == to.charAt(j - 1);
        return exchanged ? Math.min(fewest, 1 + edits[i - 2][j - 2]) : fewest;
    }
}
