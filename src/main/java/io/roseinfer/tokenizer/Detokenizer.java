package io.roseinfer.tokenizer;

/**
 * Turns one stream of ids into text as they come. A token may end within a character; its bytes are held back until the
 * character is complete, and those of byte fallback until another token shows that their run has ended, so what has been handed out is
 * never taken back and never holds half a character. The pieces of
 * {@link #push} and the tail of {@link #flush}, put together, are exactly {@link Tokenizer#decode} of all the ids.
 *
 * <p>O(bytes of the token) per push, independent of what went before. One instance per stream; not for sharing between
 * threads.
 */
public final class Detokenizer {
    private final Vocabulary vocabulary;
    private final boolean skipSpecialTokens;
    private final Utf8Decoder decoder = new Utf8Decoder();
    private final ByteRun run = new ByteRun();
    private final StringBuilder scratch = new StringBuilder();

    /** Whether text goes out as its tokens have it: the text's beginning loses nothing, or is behind. */
    private boolean startIsBehind;

    /** How many characters the text's beginning has lost. */
    private int dropped;

    private long unknownIds;

    /** A detokenizer for one stream that begins now; special tokens appear as their text unless they are to be skipped. */
    public Detokenizer(Vocabulary vocabulary, boolean skipSpecialTokens) {
        this(vocabulary, skipSpecialTokens, false);
    }

    /**
     * A detokenizer for one stream.
     *
     * @param continuing whether the stream goes on where other text ended, so that it loses nothing that only a text's beginning
     *     loses
     */
    Detokenizer(Vocabulary vocabulary, boolean skipSpecialTokens, boolean continuing) {
        this.vocabulary = vocabulary;
        this.skipSpecialTokens = skipSpecialTokens;
        this.startIsBehind = continuing || vocabulary.start().isKept();
    }

    /**
     * Takes the next id and appends the text that is complete with it, often nothing. An id without a token (a padding column
     * of the logits, say) decodes to nothing and is counted.
     */
    public void push(int id, StringBuilder out) {
        if (!vocabulary.contains(id)) {
            unknownIds++;
        } else if (!(skipSpecialTokens && vocabulary.isSpecial(id))) {
            decode(id, out);
        }
    }

    private void decode(int id, StringBuilder out) {
        if (vocabulary.isFallbackByte(id)) {
            run.accept(vocabulary.fallbackByte(id));
            return;
        }
        int from = out.length();
        run.finish(out);
        vocabulary.decode(id, decoder, out);
        if (!startIsBehind) {
            if (vocabulary.start().firstToken()) {
                dropSpacesOfFirstToken(id, out, from);
            } else {
                dropBeginning(out, from);
            }
        }
    }

    private void dropSpacesOfFirstToken(int id, StringBuilder out, int from) {
        startIsBehind = true;
        if (!vocabulary.hasOwnSpaces(id)) {
            String text = out.substring(from).replace(" ", "");
            out.setLength(from);
            out.append(text);
        }
    }

    private void dropBeginning(StringBuilder out, int from) {
        TokenDecoder.TextStart start = vocabulary.start();
        int keptFrom = from;
        while (!startIsBehind && keptFrom < out.length()) {
            startIsBehind = dropped == start.atMost() || out.charAt(keptFrom) != start.dropped();
            if (!startIsBehind) {
                keptFrom++;
                dropped++;
            }
        }
        out.delete(from, keptFrom);
    }

    /** As {@link #push(int, StringBuilder)}, returning the text. */
    public String push(int id) {
        push(id, scratch);
        return take();
    }

    /**
     * Ends the stream and appends what was held back: a run of bytes, or U+FFFD for a last character that is incomplete. The next push begins
     * a new text.
     */
    public void flush(StringBuilder out) {
        int from = out.length();
        run.finish(out);
        decoder.finish(out);
        if (!startIsBehind && !vocabulary.start().firstToken()) {
            dropBeginning(out, from);
        }
        startIsBehind = vocabulary.start().isKept();
        dropped = 0;
    }

    /** As {@link #flush(StringBuilder)}, returning the text. */
    public String flush() {
        flush(scratch);
        return take();
    }

    /** Returns the text that {@link #flush} would return now, in the time of a copy; the stream goes on. */
    public String unfinished() {
        String held = run.unfinished() + decoder.unfinished();
        if (startIsBehind || held.isEmpty() || vocabulary.start().firstToken()) {
            return held;
        }
        int droppedBefore = dropped;
        StringBuilder text = new StringBuilder(held);
        dropBeginning(text, 0);
        dropped = droppedBefore;
        startIsBehind = false;
        return text.toString();
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
