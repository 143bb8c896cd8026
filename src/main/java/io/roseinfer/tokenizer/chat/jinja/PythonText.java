package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.LargeInt;
import io.roseinfer.tokenizer.chat.jinja.Value.Namespace;
import io.roseinfer.tokenizer.chat.jinja.Value.None;
import io.roseinfer.tokenizer.chat.jinja.Value.Real;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import io.roseinfer.tokenizer.chat.jinja.Value.Undefined;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntPredicate;

/** Formats values like Python's {@code str} and {@code repr}, and implements Python's string functions. */
final class PythonText {
    private PythonText() {}

    /** Evaluates {@code str(value)}. */
    static String str(Value value) {
        if (value instanceof Text(String text)) {
            return text;
        }
        if (value instanceof Undefined) {
            return "";
        }
        StringBuilder out = new StringBuilder();
        repr(value, out);
        return out.toString();
    }

    private static void repr(Value value, StringBuilder out) {
        if (out.length() > Budget.MAX_CHARS) {
            throw new TemplateError("a string has more than " + Budget.MAX_CHARS + " characters");
        }
        switch (value) {
            case Text(String text) -> quote(text, out);
            case Int(long number) -> out.append(number);
            case LargeInt(BigInteger number) -> out.append(number);
            case Real(double number) -> out.append(Numbers.repr(number));
            case Bool(boolean truth) -> out.append(truth ? "True" : "False");
            case None ignored -> out.append("None");
            case Undefined ignored -> out.append("Undefined");
            case Items(var values, Items.Kind kind) when kind == Items.Kind.LIST || kind == Items.Kind.TUPLE -> {
                out.append(kind == Items.Kind.LIST ? '[' : '(');
                String separator = "";
                for (Value item : values) {
                    out.append(separator);
                    repr(item, out);
                    separator = ", ";
                }
                out.append(kind == Items.Kind.LIST ? "]" : values.size() == 1 ? ",)" : ")");
            }
            case Dict(Map<Value, Value> entries) -> {
                out.append('{');
                String[] separator = {""};
                entries.forEach((key, item) -> {
                    out.append(separator[0]);
                    repr(key, out);
                    out.append(": ");
                    repr(item, out);
                    separator[0] = ", ";
                });
                out.append('}');
            }
            case Namespace(Map<String, Value> fields) -> {
                Map<Value, Value> entries = new LinkedHashMap<>();
                fields.forEach((name, field) -> entries.put(new Text(name), field));
                out.append("<Namespace ");
                repr(new Dict(entries), out);
                out.append('>');
            }
            default -> throw new TemplateError(Operators.typeName(value) + " cannot be converted to a string");
        }
    }

    private static void quote(String text, StringBuilder out) {
        char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
        out.append(quote);
        text.codePoints().forEach(point -> {
            switch (point) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\\' -> out.append("\\\\");
                default -> {
                    if (point == quote) {
                        out.append('\\').append(quote);
                    } else if (isPrintable(point)) {
                        out.appendCodePoint(point);
                    } else {
                        String form = point < 0x100 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x";
                        out.append(String.format(java.util.Locale.ROOT, form, point));
                    }
                }
            }
        });
        out.append(quote);
    }

    private static boolean isPrintable(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR ->
                false;
            case Character.SPACE_SEPARATOR -> point == ' ';
            default -> true;
        };
    }

    /** Evaluates {@code str.isspace} for one character. */
    static boolean isSpace(int point) {
        return (point >= '\t' && point <= '\r')
                || (point >= 0x1c && point <= ' ')
                || point == 0x85
                || Character.isSpaceChar(point);
    }

    static boolean isBlank(String text) {
        return text.codePoints().allMatch(PythonText::isSpace);
    }

    /** Removes trailing whitespace. */
    static String stripEnd(String text) {
        return strip(text, PythonText::isSpace, false, true);
    }

    /** Removes leading and trailing characters that match. */
    static String strip(String text, IntPredicate goes, boolean begin, boolean end) {
        int from = 0;
        int to = text.length();
        while (begin && from < to && goes.test(text.codePointAt(from))) {
            from += Character.charCount(text.codePointAt(from));
        }
        while (end && to > from && goes.test(text.codePointBefore(to))) {
            to -= Character.charCount(text.codePointBefore(to));
        }
        return text.substring(from, to);
    }

    /** Returns whether a character ends a line for {@code str.splitlines}. */
    static boolean isLineEnd(char c) {
        return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
    }

    /** Returns the text with the first character in upper case, the others in lower case. */
    static String capitalize(String text) {
        if (text.isEmpty()) {
            return text;
        }
        int first = Character.charCount(text.codePointAt(0));
        return titleCase(text.codePointAt(0)) + lower(text.substring(first));
    }

    /** Returns a character in title case; some become several characters, such as {@code ß}. */
    static String titleCase(int point) {
        String letter = Character.toString(point);
        String upper = upper(letter);
        boolean several = Character.toTitleCase(point) == point && upper.length() > letter.length();
        return several
                ? upper.charAt(0) + lower(upper.substring(1))
                : Character.toString(Character.toTitleCase(point));
    }

    static String lower(String text) {
        return text.toLowerCase(java.util.Locale.ROOT);
    }

    static String upper(String text) {
        return text.toUpperCase(java.util.Locale.ROOT);
    }
}
