package io.roseinfer.base;

/**
 * Text made safe for a terminal. Names and values that a file brings along can hold controls, which retitle or clear a terminal,
 * and format characters, which reorder a line; they are shown as escapes and not obeyed.
 */
public final class Printable {
    private Printable() {}

    /** Whether a terminal shows this code point and does nothing else: no control, format, surrogate, private or unassigned one. */
    public static boolean isPrintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.PRIVATE_USE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /**
     * The text with an escape, a backslash, a u and the number in hexadecimal, in place of every code point that is not printable,
     * line ends included. Doing it twice changes nothing more.
     */
    public static String escape(String text) {
        if (text.codePoints().allMatch(Printable::isPrintable)) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(point -> append(point, escaped));
        return escaped.toString();
    }

    /** Appends one code point, escaped if it must be. */
    public static void append(int codePoint, StringBuilder out) {
        if (isPrintable(codePoint)) {
            out.appendCodePoint(codePoint);
        } else {
            out.append(String.format("\\u%04x", codePoint));
        }
    }

    /** The text as one line: a line end and the white space around it become one space, the last goes, the rest is escaped. */
    public static String line(String text) {
        return escape(text.stripTrailing().replaceAll("\\s*\\R\\s*", " "));
    }
}
