package io.roseinfer.tokenizer;

/**
 * Turns one stream of ids into text as they come. A token may end within a character; its bytes are held back until the
 * character is complete, so what has been handed out is never taken back and never holds half a character. The pieces of
 * {@link #push} and the tail of {@link #flush}, put together, are exactly {@link Tokenizer#decode} of all the ids.
 *
 * <p>O(bytes of the token) per push, independent of what went before. One instance per stream; not for sharing between
 * threads.
 */
public final class Detokenizer {
    private final Vocabulary vocabulary;
    private final boolean skipSpecialTokens;
    private final Utf8Decoder decoder = new Utf8Decoder();
    private final StringBuilder scratch = new StringBuilder();
    private long unknownIds;

    /** A detokenizer for one stream that begins now; special tokens appear as their text unless they are to be skipped. */
    public Detokenizer(Vocabulary vocabulary, boolean skipSpecialTokens) {
        this.vocabulary = vocabulary;
        this.skipSpecialTokens = skipSpecialTokens;
    }

    /**
     * Takes the next id and appends the text that is complete with it, often nothing. An id without a token (a padding column
     * of the logits, say) decodes to nothing and is counted.
     */
    public void push(int id, StringBuilder out) {
        if (!vocabulary.contains(id)) {
            unknownIds++;
        } else if (!(skipSpecialTokens && vocabulary.isSpecial(id))) {
            vocabulary.decode(id, decoder, out);
        }
    }

    /** As {@link #push(int, StringBuilder)}, returning the text. */
    public String push(int id) {
        push(id, scratch);
        return take();
    }

    /** Ends the stream and appends U+FFFD if its last character is incomplete. The next push begins a new stream. */
    public void flush(StringBuilder out) {
        decoder.finish(out);
    }

    /** As {@link #flush(StringBuilder)}, returning the text. */
    public String flush() {
        flush(scratch);
        return take();
    }

    /** The text that {@link #flush} would return now; the stream goes on. */
    public String unfinished() {
        return decoder.unfinished();
    }

    /** How many ids without a token have been pushed. */
    public long unknownIds() {
        return unknownIds;
    }

    private String take() {
        if (scratch.isEmpty()) {
            return "";
        }
        String text = scratch.toString();
        scratch.setLength(0);
        return text;
    }
}
