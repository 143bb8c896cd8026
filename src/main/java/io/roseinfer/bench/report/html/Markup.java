package io.roseinfer.bench.report.html;

import io.roseinfer.base.Printable;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Text made safe for a page, and numbers as a page shows them. */
final class Markup {
    private Markup() {}

    /** Text from anywhere as the content of an element or an attribute. */
    static String text(String text) {
        return Printable.escape(text)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    /** Words as a command line of a shell, quoted where it needs that. */
    static String command(List<String> words) {
        return words.stream()
                .map(word -> word.matches("[\\w./:=,@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }

    /** A number with three digits that count, and no exponent where people read none. */
    static String number(double value) {
        double size = Math.abs(value);
        if (value == Math.rint(value) && size < 1e15) {
            return String.format(Locale.ROOT, "%,d", (long) value);
        }
        return String.format(
                Locale.ROOT, size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f", value);
    }

    /** A number at an axis: round, so without zeros at its end. */
    static String tick(double value) {
        String text = number(value);
        return text.contains(".") ? text.replaceFirst("0+$", "").replaceFirst("\\.$", "") : text;
    }

    /** A coordinate. */
    static String at(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
