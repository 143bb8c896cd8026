package io.roseinfer.tokenizer.bpe;

/** Cuts plain text into the words within which bytes are merged. */
@FunctionalInterface
public interface WordSplitter {

    /** A byte-level pre-tokenizer with {@code use_regex} off: the text is one word. */
    WordSplitter WHOLE_TEXT = (text, start, end) -> end;

    /**
     * Where the word that begins at {@code start} ends; no character from {@code end} on is looked at. Surrogates are paired.
     *
     * @return an index in {@code start + 1 .. end}
     */
    int wordEnd(CharSequence text, int start, int end);
}
