package io.roseinfer.tokenizer.chat.reply;

import io.roseinfer.base.Limits;
import io.roseinfer.base.StrictJson;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Converts keyword arguments of Python's literals to JSON, as {@code json.dumps} writes it. */
final class PythonArguments {
    private static final Pattern NUMBER = Pattern.compile("[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?");
    private static final Pattern WORD = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final int MAX_EXPONENT = 400;

    private final String text;
    private final StringBuilder json = new StringBuilder();
    private final Set<String> names = new HashSet<>();
    private int at;
    private int depth;

    /** The text is not what is expected. */
    private static final class Malformed extends Exception {}

    private PythonArguments(String text) {
        this.text = text;
    }

    /** Returns a JSON object, or empty if the text is not a list of keyword arguments. */
    static Optional<String> json(String text) {
        PythonArguments reader = new PythonArguments(text);
        try {
            reader.arguments();
            return Optional.of(reader.json.toString());
        } catch (Malformed malformed) {
            return Optional.empty();
        }
    }

    private void arguments() throws Malformed {
        json.append('{');
        skipSpace();
        while (at < text.length()) {
            String name = word();
            if (!names.add(name)) {
                throw new Malformed();
            }
            quoted(name);
            require('=');
            json.append(": ");
            value();
            if (!next(',')) {
                break;
            }
            if (at < text.length()) {
                json.append(", ");
            }
        }
        if (at < text.length()) {
            throw new Malformed();
        }
        json.append('}');
    }

    private void value() throws Malformed {
        if (at == text.length() || ++depth > Limits.JSON_DEPTH) {
            throw new Malformed();
        }
        char first = text.charAt(at);
        switch (first) {
            case '"', '\'' -> quoted(string());
            case '[' -> list(']');
            case '(' -> list(')');
            case '{' -> dictionary();
            default -> scalar();
        }
        skipSpace();
        depth--;
    }

    private void scalar() throws Malformed {
        Matcher number = NUMBER.matcher(text).region(at, text.length());
        if (number.lookingAt()) {
            at = number.end();
            json.append(number(number.group()));
            return;
        }
        json.append(
                switch (word()) {
                    case "True", "true" -> "true";
                    case "False", "false" -> "false";
                    case "None", "null" -> "null";
                    default -> throw new Malformed();
                });
    }

    private static String number(String digits) throws Malformed {
        BigDecimal value = new BigDecimal(digits);
        if (Math.abs((long) value.scale()) > MAX_EXPONENT) {
            throw new Malformed();
        }
        boolean whole = digits.chars().allMatch(c -> c == '-' || c == '+' || Character.isDigit(c));
        return whole ? value.toBigInteger().toString() : value.toString();
    }

    private void list(char end) throws Malformed {
        at++;
        skipSpace();
        json.append('[');
        boolean first = true;
        while (!next(end)) {
            separate(first);
            first = false;
            if (next(end)) {
                throw new Malformed();
            }
            value();
            if (!peek(end)) {
                require(',');
            }
        }
        json.append(']');
    }

    private void dictionary() throws Malformed {
        at++;
        skipSpace();
        json.append('{');
        boolean first = true;
        while (!next('}')) {
            separate(first);
            first = false;
            quoted(string());
            skipSpace();
            require(':');
            json.append(": ");
            value();
            if (!peek('}')) {
                require(',');
            }
        }
        json.append('}');
    }

    private void separate(boolean first) {
        if (!first) {
            json.append(", ");
        }
    }

    private String word() throws Malformed {
        Matcher word = WORD.matcher(text).region(at, text.length());
        if (!word.lookingAt()) {
            throw new Malformed();
        }
        at = word.end();
        skipSpace();
        return word.group();
    }

    /** Reads a string with Python's common escapes. */
    private String string() throws Malformed {
        char quote = peek('"') ? '"' : '\'';
        require(quote, false);
        StringBuilder value = new StringBuilder();
        while (at < text.length()) {
            char next = text.charAt(at++);
            if (next == quote) {
                return value.toString();
            }
            if (next != '\\') {
                value.append(next);
            } else if (at < text.length()) {
                escape(text.charAt(at++), value);
            }
        }
        throw new Malformed();
    }

    private void escape(char letter, StringBuilder value) throws Malformed {
        switch (letter) {
            case 'n' -> value.append('\n');
            case 't' -> value.append('\t');
            case 'r' -> value.append('\r');
            case '\\', '\'', '"' -> value.append(letter);
            case '\n' -> {} // a continued line
            case 'x' -> value.appendCodePoint(hex(2));
            case 'u' -> value.appendCodePoint(hex(4));
            default -> value.append('\\').append(letter);
        }
    }

    private int hex(int digits) throws Malformed {
        try {
            String number = text.substring(at, Math.min(text.length(), at + digits));
            at += digits;
            return Integer.parseUnsignedInt(number, 16);
        } catch (NumberFormatException notHex) {
            throw new Malformed();
        }
    }

    private void quoted(String value) {
        json.append(StrictJson.mapper().writeValueAsString(value));
    }

    private boolean peek(char wanted) {
        return at < text.length() && text.charAt(at) == wanted;
    }

    private boolean next(char wanted) {
        if (!peek(wanted)) {
            return false;
        }
        at++;
        skipSpace();
        return true;
    }

    private void require(char wanted) throws Malformed {
        require(wanted, true);
    }

    private void require(char wanted, boolean spaceAfter) throws Malformed {
        if (!peek(wanted)) {
            throw new Malformed();
        }
        at++;
        if (spaceAfter) {
            skipSpace();
        }
    }

    private void skipSpace() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }
}
