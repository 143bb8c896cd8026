package io.roseinfer.tokenizer;

/** Cuts plain text into the words within which symbols are merged. */
@FunctionalInterface
interface WordSplitter {

    /** A pre-tokenizer that does not cut: the text is one word. */
    WordSplitter WHOLE_TEXT = (text, start, end) -> end;

    /** A word begins wherever this character stands, as with {@code Metaspace}. */
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
     * Where the word that begins at {@code start} ends; no character from {@code end} on is looked at. Surrogates are paired.
     *
     * @return an index in {@code start + 1 .. end}
     */
    int wordEnd(CharSequence text, int start, int end);
}
