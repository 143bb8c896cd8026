package io.roseinfer.base;

import java.util.Collection;
import java.util.stream.Collectors;

/** Makes text from a file or a server safe to print: quoted, truncated and escaped. */
public final class Quoted {
    private static final int NAME_CHARS = 120;
    private static final int LISTED = 5;

    private Quoted() {}

    /** Returns {@code name} in double quotes, truncated to 120 characters. */
    public static String name(String name) {
        return '"' + escape(cut(name).replace("\\", "\\\\").replace("\"", "\\\"")) + '"' + more(name);
    }

    /** Returns a number or word without quotes, truncated to 120 characters. */
    public static String value(String value) {
        return escape(cut(value)) + more(value);
    }

    private static String cut(String text) {
        return text.length() <= NAME_CHARS ? text : text.substring(0, NAME_CHARS);
    }

    private static String more(String text) {
        return text.length() <= NAME_CHARS ? "" : "…";
    }

    /** Returns the first five names and the number of further ones. */
    public static String names(Collection<String> names) {
        String shown = names.stream().limit(LISTED).map(Quoted::name).collect(Collectors.joining(", "));
        return names.size() <= LISTED ? shown : shown + " and " + (names.size() - LISTED) + " more";
    }

    /** Escapes unprintable characters. */
    public static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(point -> Printable.append(point, escaped));
        return escaped.toString();
    }
}
