package io.roseinfer.base;

/** Validation of strings as Unicode text. */
public final class Utf16 {
    private Utf16() {}

    /**
     * Returns the index of the first unpaired surrogate, which {@link String#getBytes} would replace by {@code ?}, or
     * -1.
     */
    public static int unpairedSurrogate(String text) {
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
