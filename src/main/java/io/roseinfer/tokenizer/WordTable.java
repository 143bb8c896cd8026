package io.roseinfer.tokenizer;

import java.util.Arrays;
import java.util.Map;

/** Words that become tokens without merging ({@code ignore_merges}). An open-addressing table; immutable. */
final class WordTable {
    private static final int MULTIPLIER = 0x9E3779B9;

    private final String[] words;
    private final int[] ids;
    private final int longest;

    /** Creates the table of these words. */
    public WordTable(Map<String, Integer> idsByWord) {
        // At most half full, so that probes are short; an empty string marks a free slot.
        int slots = Integer.highestOneBit(Math.max(1, idsByWord.size())) << 2;
        words = new String[slots];
        Arrays.fill(words, "");
        ids = new int[slots];
        int longestWord = 0;
        for (Map.Entry<String, Integer> entry : idsByWord.entrySet()) {
            String word = entry.getKey();
            int slot = slot(word, 0, word.length());
            words[slot] = word;
            ids[slot] = entry.getValue();
            longestWord = Math.max(longestWord, word.length());
        }
        longest = longestWord;
    }

    /** Returns the id of the word {@code text[start .. end)}, or {@link Symbols#MISSING}. */
    public int find(String text, int start, int end) {
        if (end - start > longest) {
            return Symbols.MISSING;
        }
        int slot = slot(text, start, end);
        return words[slot].isEmpty() ? Symbols.MISSING : ids[slot];
    }

    private int slot(String text, int start, int end) {
        int hash = 0;
        for (int i = start; i < end; i++) {
            hash = 31 * hash + text.charAt(i);
        }
        int mask = words.length - 1;
        int slot = ((hash * MULTIPLIER) >>> 7) & mask;
        while (!words[slot].isEmpty() && !isAt(slot, text, start, end)) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private boolean isAt(int slot, String text, int start, int end) {
        String word = words[slot];
        return word.length() == end - start && text.startsWith(word, start);
    }
}
