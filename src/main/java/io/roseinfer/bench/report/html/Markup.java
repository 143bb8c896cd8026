package io.roseinfer.bench.report.html;

import io.roseinfer.base.Printable;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Escaping of text and formatting of numbers for HTML. */
final class Markup {
    private Markup() {}

    /** Escapes text for the content of an element or an attribute. */
    static String text(String text) {
        return Printable.escape(text)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    /** Formats words as a shell command line, with quotes where needed. */
    static String command(List<String> words) {
        return words.stream()
                .map(word -> word.matches("[\\w./:=,@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }

    /** Formats a number with three significant digits, without an exponent. */
    static String number(double value) {
        double size = Math.abs(value);
        if (value == Math.rint(value) && size < 1e15) {
            return String.format(Locale.ROOT, "%,d", (long) value);
        }
        return String.format(
                Locale.ROOT, size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f", value);
    }

    /** Formats a tick value, without trailing zeros. */
    static String tick(double value) {
        String text = number(value);
        return text.contains(".") ? text.replaceFirst("0+$", "").replaceFirst("\\.$", "") : text;
    }

    /** Formats a coordinate. */
    static String at(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
