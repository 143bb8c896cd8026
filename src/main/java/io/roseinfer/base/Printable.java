package io.roseinfer.base;

/**
 * Makes text safe to print to a terminal. Text from files can contain control characters, which retitle or clear a
 * terminal, and format characters, which reorder a line; both are escaped.
 */
public final class Printable {
    private Printable() {}

    /**
     * Returns whether a code point only prints a glyph: not a control, format, surrogate, private-use or unassigned
     * one.
     */
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
     * Returns the text with every unprintable code point, including line breaks, replaced by a backslash, a {@code u}
     * and its hexadecimal value. Escaping twice changes nothing more.
     */
    public static String escape(String text) {
        if (text.codePoints().allMatch(Printable::isPrintable)) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(point -> append(point, escaped));
        return escaped.toString();
    }

    /** Appends a code point, escaped if it is not printable. */
    public static void append(int codePoint, StringBuilder out) {
        if (isPrintable(codePoint)) {
            out.appendCodePoint(codePoint);
        } else {
            out.append(String.format("\\u%04x", codePoint));
        }
    }

    /**
     * Returns the text as one line: each line break with the white space around it becomes a space, trailing white
     * space is removed, and the rest is escaped.
     */
    public static String line(String text) {
        return escape(text.stripTrailing().replaceAll("\\s*\\R\\s*", " "));
    }
}
