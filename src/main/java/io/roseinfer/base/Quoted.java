package io.roseinfer.base;

import java.util.Collection;
import java.util.stream.Collectors;

/** Makes text from a file or a server safe to print: quoted, truncated and escaped. */
public final class Quoted {
    private static final int NAME_CHARS = 120;
    private static final int PATH_CHARS = 500;
    private static final int LISTED = 5;

    private Quoted() {}

    /** Returns {@code name} in double quotes, truncated to 120 characters. */
    public static String name(String name) {
        String shown = cut(name, NAME_CHARS).replace("\\", "\\\\").replace("\"", "\\\"");
        return '"' + escape(shown) + '"' + more(name, NAME_CHARS);
    }

    /** Returns a number or word without quotes, truncated to 120 characters. */
    public static String value(String value) {
        return cutEscaped(value, NAME_CHARS);
    }

    /** Returns a path without quotes, truncated to 500 characters: hardly any is longer, but a text given in its place may be. */
    static String path(String path) {
        return cutEscaped(path, PATH_CHARS);
    }

    private static String cutEscaped(String text, int max) {
        return escape(cut(text, max)) + more(text, max);
    }

    private static String cut(String text, int max) {
        return text.length() <= max ? text : text.substring(0, max);
    }

    private static String more(String text, int max) {
        return text.length() <= max ? "" : "…";
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
