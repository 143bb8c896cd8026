package io.roseinfer.tokenizer;

/**
 * Neighbouring tokens of byte fallback, which are text together: characters if all their bytes are UTF-8, else one U+FFFD for each
 * byte, as in Hugging Face {@code tokenizers}. Which of the two is only known at the end of the run, so a run is held back as a
 * whole.
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

    /** The text that {@link #finish} would append. */
    String unfinished() {
        if (bytes == 0) {
            return "";
        }
        boolean isText = decoder.unfinished().isEmpty() && !decoder.sawIllFormed();
        return isText ? text.toString() : "\ufffd".repeat(bytes);
    }
}
