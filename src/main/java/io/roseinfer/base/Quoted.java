package io.roseinfer.base;

import java.util.Collection;
import java.util.stream.Collectors;

/** Text that came from a file or a server, made safe to print: quoted, cut, and with every odd character escaped. */
public final class Quoted {
    private static final int NAME_CHARS = 120;
    private static final int LISTED = 5;

    private Quoted() {}

    /** {@code name} in double quotes, at most 120 characters of it. */
    public static String name(String name) {
        return '"' + escape(cut(name)) + '"' + more(name);
    }

    /** A number or a word without quotes, at most 120 characters of it. */
    public static String value(String value) {
        return escape(cut(value)) + more(value);
    }

    private static String cut(String text) {
        return text.length() <= NAME_CHARS ? text : text.substring(0, NAME_CHARS);
    }

    private static String more(String text) {
        return text.length() <= NAME_CHARS ? "" : "…";
    }

    /** The first five names and how many more there are. */
    public static String names(Collection<String> names) {
        String shown = names.stream().limit(LISTED).map(Quoted::name).collect(Collectors.joining(", "));
        return names.size() <= LISTED ? shown : shown + " and " + (names.size() - LISTED) + " more";
    }

    /** Replaces quotes, backslashes and whatever is not a plain printable character by an escape. */
    public static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(point -> {
            if (point == '"' || point == '\\') {
                escaped.append('\\').append((char) point);
            } else {
                Printable.append(point, escaped);
            }
        });
        return escaped.toString();
    }
}
