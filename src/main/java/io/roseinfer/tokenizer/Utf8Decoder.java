package io.roseinfer.tokenizer;

/**
 * Decodes UTF-8 one byte at a time, buffering only the current character. Ill-formed bytes become U+FFFD, one per
 * maximal subpart (Unicode 16, section 3.9, table 3-8), as in Rust's {@code from_utf8_lossy} and Python's
 * {@code errors="replace"}; Java's decoder differs for encoded surrogates.
 */
final class Utf8Decoder {
    private static final char REPLACEMENT = '\ufffd';
    private static final String UNFINISHED = String.valueOf(REPLACEMENT);

    private int codePoint;
    private int missing;
    private boolean illFormed;

    /** The range of the next continuation byte: after some lead bytes it is narrower than 80..BF. */
    private int low;

    private int high;

    /** Takes the next byte (0..255) and appends the character that it completes. */
    void accept(int unsignedByte, StringBuilder out) {
        if (missing > 0) {
            if (unsignedByte >= low && unsignedByte <= high) {
                resume(unsignedByte, out);
                return;
            }
            finish(out);
        }
        begin(unsignedByte, out);
    }

    /** Ends the text: an incomplete character becomes one U+FFFD. */
    void finish(StringBuilder out) {
        if (missing > 0) {
            replace(out);
            missing = 0;
        }
    }

    private void replace(StringBuilder out) {
        out.append(REPLACEMENT);
        illFormed = true;
    }

    /** Returns whether any byte since the beginning or the last {@link #reset} was ill-formed. */
    boolean sawIllFormed() {
        return illFormed;
    }

    /** Discards the text so far. */
    void reset() {
        missing = 0;
        illFormed = false;
    }

    /** Returns the text that {@link #finish} would append. */
    String unfinished() {
        return missing > 0 ? UNFINISHED : "";
    }

    private void resume(int unsignedByte, StringBuilder out) {
        codePoint = codePoint << 6 | (unsignedByte & 0x3f);
        low = 0x80;
        high = 0xbf;
        if (--missing == 0) {
            out.appendCodePoint(codePoint);
        }
    }

    /** Begins a character, by the rows of Unicode 16, table 3-7. */
    private void begin(int lead, StringBuilder out) {
        if (lead < 0x80) {
            out.append((char) lead);
        } else if (lead < 0xc2 || lead > 0xf4) {
            replace(out);
        } else if (lead < 0xe0) {
            expect(1, lead & 0x1f, 0x80, 0xbf);
        } else if (lead < 0xf0) {
            // E0 would be overlong below A0; ED would be a surrogate above 9F.
            expect(2, lead & 0x0f, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf);
        } else {
            // F0 would be overlong below 90; F4 would pass U+10FFFF above 8F.
            expect(3, lead & 0x07, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
        }
    }

    private void expect(int continuationBytes, int leadBits, int lowest, int highest) {
        missing = continuationBytes;
        codePoint = leadBits;
        low = lowest;
        high = highest;
    }
}
