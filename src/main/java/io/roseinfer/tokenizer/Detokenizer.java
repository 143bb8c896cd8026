package io.roseinfer.tokenizer;

/**
 * Decodes one stream of ids to text. A token may end within a character: its bytes are held back until the character is
 * complete. Byte-fallback tokens are held back until another token ends their run. So returned text is never revoked
 * and never has part of a character. The concatenated results of {@link #push} and {@link #flush} are exactly
 * {@link Tokenizer#decode} of all ids.
 *
 * <p>A push takes O(bytes of the token). One instance per stream; not thread-safe.
 */
public final class Detokenizer {
    private final Vocabulary vocabulary;
    private final boolean skipSpecialTokens;
    private final Utf8Decoder decoder = new Utf8Decoder();
    private final ByteRun run = new ByteRun();
    private final StringBuilder scratch = new StringBuilder();

    /** Whether the text's beginning is complete, or loses no characters. */
    private boolean startIsComplete;

    /** Number of characters removed from the text's beginning. */
    private int dropped;

    private long unknownIds;

    /** Creates a detokenizer for a new text; special tokens are decoded to their text unless they are skipped. */
    public Detokenizer(Vocabulary vocabulary, boolean skipSpecialTokens) {
        this(vocabulary, skipSpecialTokens, false);
    }

    /**
     * Creates a detokenizer for one stream.
     *
     * @param continuing whether the stream continues other text, so that no leading characters are removed
     */
    Detokenizer(Vocabulary vocabulary, boolean skipSpecialTokens, boolean continuing) {
        this.vocabulary = vocabulary;
        this.skipSpecialTokens = skipSpecialTokens;
        this.startIsComplete = continuing || vocabulary.start().isKept();
    }

    /**
     * Takes the next id and appends the text that it completes, which may be empty. An id without a token (such as a
     * padding column of the logits) decodes to nothing and is counted.
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
        if (!startIsComplete) {
            if (vocabulary.start().firstToken()) {
                dropSpacesOfFirstToken(id, out, from);
            } else {
                dropBeginning(out, from);
            }
        }
    }

    private void dropSpacesOfFirstToken(int id, StringBuilder out, int from) {
        startIsComplete = true;
        if (!vocabulary.hasLiteralSpaces(id)) {
            String text = out.substring(from).replace(" ", "");
            out.setLength(from);
            out.append(text);
        }
    }

    private void dropBeginning(StringBuilder out, int from) {
        TokenDecoder.TextStart start = vocabulary.start();
        int keptFrom = from;
        while (!startIsComplete && keptFrom < out.length()) {
            startIsComplete = dropped == start.atMost() || out.charAt(keptFrom) != start.dropped();
            if (!startIsComplete) {
                keptFrom++;
                dropped++;
            }
        }
        out.delete(from, keptFrom);
    }

    /** Takes the next id and returns the text that it completes. */
    public String push(int id) {
        push(id, scratch);
        return take();
    }

    /**
     * Ends the stream and appends what was held back: a run of bytes, or U+FFFD for an incomplete last character. The
     * next push begins a new text.
     */
    public void flush(StringBuilder out) {
        int from = out.length();
        run.finish(out);
        decoder.finish(out);
        if (!startIsComplete && !vocabulary.start().firstToken()) {
            dropBeginning(out, from);
        }
        startIsComplete = vocabulary.start().isKept();
        dropped = 0;
    }

    /** Ends the stream and returns what was held back. */
    public String flush() {
        flush(scratch);
        return take();
    }

    /** Returns the text that {@link #flush} would return now, without ending the stream. */
    public String unfinished() {
        String held = run.unfinished() + decoder.unfinished();
        if (startIsComplete || held.isEmpty() || vocabulary.start().firstToken()) {
            return held;
        }
        int droppedBefore = dropped;
        StringBuilder text = new StringBuilder(held);
        dropBeginning(text, 0);
        dropped = droppedBefore;
        startIsComplete = false;
        return text.toString();
    }

    /** Returns the number of pushed ids without a token. */
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
