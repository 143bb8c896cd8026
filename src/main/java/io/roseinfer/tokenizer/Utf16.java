package io.roseinfer.tokenizer;

/** The one thing that can be wrong with a Java string as Unicode text. */
final class Utf16 {
    private Utf16() {}

    /** The index of the first unpaired surrogate, or -1. {@link String#getBytes} would silently write {@code ?} for it. */
    static int unpairedSurrogate(String text) {
        int i = 0;
        while (i < text.length()) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean paired = Character.isHighSurrogate(c)
                        && i + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(i + 1));
                if (!paired) {
                    return i;
                }
                i++;
            }
            i++;
        }
        return -1;
    }
}
