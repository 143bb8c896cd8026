package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Lexer.Token.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits a source into tokens, with the whitespace control of {@code trim_blocks} and {@code lstrip_blocks}. The
 * newline after a block or a comment is removed, and so are spaces before one that begins its line. {@code -} at a tag
 * removes all whitespace on its side, and {@code +} keeps it.
 */
final class Lexer {
    /**
     * A token of a template's source.
     *
     * @param text an operator or a name, a string without quotes and escapes, or the text between tags
     */
    record Token(Kind kind, String text, int line) {
        enum Kind {
            /** Text outside of tags. */
            DATA,
            OUTPUT_BEGIN,
            OUTPUT_END,
            BLOCK_BEGIN,
            BLOCK_END,
            NAME,
            STRING,
            INTEGER,
            FLOAT,
            OPERATOR,
            END
        }

        boolean isOperator(String operator) {
            return kind == Kind.OPERATOR && text.equals(operator);
        }

        boolean isName(String name) {
            return kind == Kind.NAME && text.equals(name);
        }

        /** Returns the token for messages. */
        String shown() {
            return switch (kind) {
                case OUTPUT_END, BLOCK_END -> "the end of the tag";
                case END -> "the end of the template";
                default -> '"' + text + '"';
            };
        }
    }

    private static final Pattern OPENING = Pattern.compile("\\{[{%#]");
    private static final Pattern RAW = Pattern.compile("\\s*raw\\s*(-?)%\\}");
    private static final Pattern END_RAW = Pattern.compile("\\{%([-+]?)\\s*endraw\\s*([-+]?)%\\}");
    private static final Pattern FLOAT =
            Pattern.compile("(?<!\\.)[\\d_]*\\d(?:(?:\\.[\\d_]*\\d)?[eE][+-]?[\\d_]*\\d|\\.[\\d_]*\\d)");
    private static final Pattern INTEGER = Pattern.compile("0[bB][01_]+|0[oO][0-7_]+|0[xX][\\da-fA-F_]+|\\d[\\d_]*");
    private static final Pattern NAME = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_]*");
    private static final Pattern OPERATOR = Pattern.compile("//|\\*\\*|==|!=|>=|<=|[-+/*%~\\[\\](){}><=.:|,;]");

    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    private int at;
    private int line = 1;
    /** Whether the input read so far ends with a newline. */
    private boolean atLineStart = true;

    private Lexer(String source) {
        this.source = source;
    }

    /** Returns the tokens of a template; the last one is {@link Kind#END}. */
    static List<Token> read(String source) {
        String unix = source.replace("\r\n", "\n").replace('\r', '\n');
        Lexer lexer = new Lexer(unix.endsWith("\n") ? unix.substring(0, unix.length() - 1) : unix);
        while (lexer.at < lexer.source.length()) {
            lexer.next();
        }
        lexer.add(Kind.END, "");
        return lexer.tokens;
    }

    /** Reads the text up to a tag, and the tag. */
    private void next() {
        Matcher opening = OPENING.matcher(source);
        if (!opening.find(at)) {
            data(source.substring(at));
            moveTo(source.length());
            return;
        }
        int open = opening.start();
        char kind = source.charAt(open + 1);
        char sign = charAt(open + 2);
        boolean signed = sign == '-' || sign == '+';
        data(controlled(source.substring(at, open), sign, kind != '{'));
        moveTo(open + (signed ? 3 : 2));
        switch (kind) {
            case '#' -> comment();
            case '{' -> tag(Kind.OUTPUT_BEGIN, Kind.OUTPUT_END, "}}");
            default -> {
                Matcher raw = at(RAW);
                if (raw.lookingAt()) {
                    moveTo(raw.end());
                    afterTag(raw.group(1).isEmpty() ? '+' : '-');
                    raw();
                } else {
                    tag(Kind.BLOCK_BEGIN, Kind.BLOCK_END, "%}");
                }
            }
        }
    }

    /** Returns the text before a tag, without the whitespace that the tag removes. */
    private String controlled(String text, char sign, boolean isBlock) {
        if (sign == '-') {
            return PythonText.stripEnd(text);
        }
        int lineStart = text.lastIndexOf('\n') + 1;
        if (sign == '+' || !isBlock || (lineStart == 0 && !atLineStart)) {
            return text;
        }
        String last = text.substring(lineStart);
        return PythonText.isBlank(last) ? text.substring(0, lineStart) : text;
    }

    private void data(String text) {
        if (!text.isEmpty()) {
            add(Kind.DATA, text);
        }
    }

    private void comment() {
        int end = source.indexOf("#}", at);
        if (end < 0) {
            throw new TemplateError(line, "a comment is not closed; \"#}\" is missing");
        }
        char sign = end > at ? source.charAt(end - 1) : ' ';
        moveTo(end + 2);
        afterTag(sign);
    }

    private void raw() {
        Matcher end = END_RAW.matcher(source);
        if (!end.find(at)) {
            throw new TemplateError(line, "a raw block is not closed; \"{% endraw %}\" is missing");
        }
        String sign = end.group(1);
        data(controlled(source.substring(at, end.start()), sign.isEmpty() ? ' ' : sign.charAt(0), true));
        String afterSign = end.group(2);
        moveTo(end.end());
        afterTag(afterSign.isEmpty() ? ' ' : afterSign.charAt(0));
    }

    /** Skips the whitespace that the end of a block or comment removes. */
    private void afterTag(char sign) {
        int end = at;
        if (sign == '-') {
            while (end < source.length() && PythonText.isSpace(source.charAt(end))) {
                end++;
            }
        } else if (sign != '+' && charAt(end) == '\n') {
            end++;
        }
        moveTo(end);
    }

    private void tag(Kind begin, Kind end, String closing) {
        int opened = line;
        add(begin, "");
        Deque<Character> open = new ArrayDeque<>();
        while (at < source.length()) {
            char c = source.charAt(at);
            if (open.isEmpty() && closes(end, closing)) {
                return;
            }
            if (PythonText.isSpace(c)) {
                moveTo(at + 1);
            } else if (c == '"' || c == '\'') {
                string(c);
            } else if (!number() && !word()) {
                operator(open);
            }
        }
        throw new TemplateError(opened, "a tag is not closed; \"" + closing + "\" is missing");
    }

    private boolean closes(Kind kind, String closing) {
        char sign = source.charAt(at);
        boolean signed = sign == '-' || (sign == '+' && kind == Kind.BLOCK_END);
        if (!source.startsWith(closing, signed ? at + 1 : at)) {
            return false;
        }
        add(kind, "");
        moveTo(at + (signed ? 3 : 2));
        afterTag(signed ? sign : kind == Kind.BLOCK_END ? ' ' : '+');
        return true;
    }

    private void string(char quote) {
        int begin = at + 1;
        int end = begin;
        while (charAt(end) != quote) {
            end += charAt(end) == '\\' ? 2 : 1;
            if (end >= source.length()) {
                throw new TemplateError(line, "a string is not closed; " + quote + " is missing");
            }
        }
        add(Kind.STRING, Escapes.read(source.substring(begin, end), line));
        moveTo(end + 1);
    }

    private boolean number() {
        return token(FLOAT, Kind.FLOAT) || token(INTEGER, Kind.INTEGER);
    }

    private boolean word() {
        return token(NAME, Kind.NAME);
    }

    private boolean token(Pattern pattern, Kind kind) {
        Matcher matcher = at(pattern);
        if (!matcher.lookingAt()) {
            return false;
        }
        add(kind, matcher.group());
        moveTo(matcher.end());
        return true;
    }

    private void operator(Deque<Character> open) {
        if (!token(OPERATOR, Kind.OPERATOR)) {
            throw new TemplateError(line, "unexpected character \"" + source.charAt(at) + '"');
        }
        char c = source.charAt(at - 1);
        if ("([{".indexOf(c) >= 0) {
            open.push(c);
        } else if (")]}".indexOf(c) >= 0 && (open.isEmpty() || open.pop() != "([{".charAt(")]}".indexOf(c)))) {
            throw new TemplateError(line, "unexpected \"" + c + '"');
        }
    }

    private Matcher at(Pattern pattern) {
        return pattern.matcher(source).region(at, source.length()).useTransparentBounds(true);
    }

    private char charAt(int index) {
        return index < source.length() ? source.charAt(index) : '\0';
    }

    private void add(Kind kind, String text) {
        tokens.add(new Token(kind, text, line));
    }

    private void moveTo(int end) {
        for (int i = at; i < end; i++) {
            if (source.charAt(i) == '\n') {
                line++;
            }
        }
        if (end > at) {
            atLineStart = source.charAt(end - 1) == '\n';
        }
        at = end;
    }
}
