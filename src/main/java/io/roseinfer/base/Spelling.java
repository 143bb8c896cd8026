package io.roseinfer.base;

import java.util.Collection;
import java.util.List;

/** Guesses which of the words that are allowed a misspelt one was meant to be, for the messages that refuse it. */
public final class Spelling {
    /** One slip is allowed for in so many characters. More would take {@code gpu} for {@code cpu}; no guess is better than a wild one. */
    private static final int CHARACTERS_PER_SLIP = 4;

    private Spelling() {}

    /** The allowed words that the fewest slips lead to, in their order; none if none is near. */
    public static List<String> nearest(String text, Collection<String> allowed) {
        List<String> near = allowed.stream().filter(word -> isNear(text, word)).toList();
        int fewest = near.stream().mapToInt(word -> distance(text, word)).min().orElse(0);
        return near.stream().filter(word -> distance(text, word) == fewest).toList();
    }

    /** The end of a message: {@code ; did you mean WORD?}, or nothing if no word is near. */
    public static String suggestion(String text, Collection<String> allowed) {
        return suggestion(nearest(text, allowed));
    }

    /** The end of a message that suggests these words, or nothing if there are none. */
    public static String suggestion(List<String> words) {
        return words.isEmpty() ? "" : "; did you mean " + String.join(" or ", words) + "?";
    }

    /** Whether few slips lead to a word. The lengths are looked at first, so that a text of any length costs little. */
    private static boolean isNear(String text, String word) {
        int slips = Math.max(text.length(), word.length()) / CHARACTERS_PER_SLIP;
        return Math.abs(text.length() - word.length()) <= slips && distance(text, word) <= slips;
    }

    /**
     * The optimal string alignment distance: the fewest characters inserted, deleted or replaced, or neighbours exchanged, that make
     * one text of the other, where no part is edited twice.
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

    /** The distance of the first i characters from the first j, by those of shorter beginnings. */
    private static int edits(int[][] edits, String from, int i, String to, int j) {
        int replaced = edits[i - 1][j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        int fewest = Math.min(replaced, 1 + Math.min(edits[i - 1][j], edits[i][j - 1]));
        boolean exchanged =
                i > 1 && j > 1 && from.charAt(i - 1) == to.charAt(j - 2) && from.charAt(i - 2) == to.charAt(j - 1);
        return exchanged ? Math.min(fewest, 1 + edits[i - 2][j - 2]) : fewest;
    }
}
