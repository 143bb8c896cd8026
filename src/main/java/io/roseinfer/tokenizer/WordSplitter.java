package io.roseinfer.tokenizer;

/** Splits plain text into the words within which symbols are merged. */
@FunctionalInterface
interface WordSplitter {

    /** A splitter that returns the whole text as one word. */
    WordSplitter WHOLE_TEXT = (text, start, end) -> end;

    /** Returns a splitter that begins a word at each occurrence of a character, as with {@code Metaspace}. */
    static WordSplitter before(char mark) {
        return (text, start, end) -> {
            int i = start + 1;
            while (i < end && text.charAt(i) != mark) {
                i++;
            }
            return i;
        };
    }

    /**
     * Returns the end of the word that begins at {@code start}, without reading characters from {@code end} on.
     * Surrogates are paired.
     *
     * @return an index in {@code start + 1 .. end}
     */
    int wordEnd(CharSequence text, int start, int end);
}
