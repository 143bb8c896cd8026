package io.roseinfer.tokenizer;

/**
 * Consecutive byte-fallback tokens, which are decoded together: to characters if all their bytes are UTF-8, else to one
 * U+FFFD per byte, as in Hugging Face {@code tokenizers}. That is only known at the end of the run, so the run is held
 * back.
 */
final class ByteRun {
    private final Utf8Decoder decoder = new Utf8Decoder();
    private final StringBuilder text = new StringBuilder();
    private int bytes;

    /** Takes the next byte (0..255). */
    void accept(int unsignedByte) {
        bytes++;
        decoder.accept(unsignedByte, text);
    }

    /** Ends the run and appends its text. */
    void finish(StringBuilder out) {
        if (bytes > 0) {
            out.append(unfinished());
            decoder.reset();
            text.setLength(0);
            bytes = 0;
        }
    }

    /** Returns the text that {@link #finish} would append. */
    String unfinished() {
        if (bytes == 0) {
            return "";
        }
        boolean isText = decoder.unfinished().isEmpty() && !decoder.sawIllFormed();
        return isText ? text.toString() : "\ufffd".repeat(bytes);
    }
}
