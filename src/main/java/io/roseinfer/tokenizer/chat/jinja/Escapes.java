package io.roseinfer.tokenizer.chat.jinja;

/** Decodes backslash sequences in a string literal, like Python. */
final class Escapes {
    private static final String SHORT = "\\'\"abfnrtv";
    private static final String MEANT = "\\'\"\u0007\b\f\n\r\t\u000b";

    private Escapes() {}

    static String read(String literal, int line) {
        if (literal.indexOf('\\') < 0) {
            return literal;
        }
        StringBuilder text = new StringBuilder(literal.length());
        int at = 0;
        while (at < literal.length()) {
            char c = literal.charAt(at++);
            if (c != '\\') {
                text.append(c);
            } else {
                at = escape(literal, at, text, line);
            }
        }
        return text.toString();
    }

    /** Decodes what follows a backslash; an unknown sequence is kept. */
    private static int escape(String literal, int at, StringBuilder text, int line) {
        char c = literal.charAt(at);
        int known = SHORT.indexOf(c);
        if (known >= 0) {
            text.append(MEANT.charAt(known));
            return at + 1;
        }
        return switch (c) {
            case '\n' -> at + 1;
            case 'x' -> code(literal, at + 1, 2, text, line);
            case 'u' -> code(literal, at + 1, 4, text, line);
            case 'U' -> code(literal, at + 1, 8, text, line);
            case 'N' -> throw new TemplateError(line, "named characters (\"\\N\") are not supported in strings");
            case '0', '1', '2', '3', '4', '5', '6', '7' -> octal(literal, at, text);
            default -> {
                text.append('\\').append(c);
                yield at + 1;
            }
        };
    }

    private static int code(String literal, int at, int digits, StringBuilder text, int line) {
        int end = at + digits;
        if (end <= literal.length()) {
            try {
                text.appendCodePoint(Integer.parseInt(literal, at, end, 16));
                return end;
            } catch (IllegalArgumentException notACharacter) {
                // Reported below.
            }
        }
        throw new TemplateError(
                line, "a string has \"\\\" with fewer than " + digits + " hexadecimal digits of a character");
    }

    private static int octal(String literal, int at, StringBuilder text) {
        int end = at;
        int value = 0;
        while (end < literal.length() && end < at + 3 && Character.digit(literal.charAt(end), 8) >= 0) {
            value = value * 8 + Character.digit(literal.charAt(end++), 8);
        }
        text.append((char) value);
        return end;
    }
}
