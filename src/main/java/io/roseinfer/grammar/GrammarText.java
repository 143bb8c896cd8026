package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import org.jspecify.annotations.Nullable;

/** A position in the text of a grammar, with what GBNF and Lark spell alike. Used by one thread. */
final class GrammarText {
    private final String language;
    private final String text;
    private int at;
    private long literals;

    GrammarText(String language, String text) {
        GrammarSize.require(
                text.length() <= GrammarSize.TEXT_CHARS,
                "the length of a " + language + " grammar",
                text.length(),
                "at most " + GrammarSize.TEXT_CHARS);
        this.language = language;
        this.text = text;
    }

    /** Returns a literal; bounds all of them, which are compiled character by character. */
    String literal(String literal) {
        literals += literal.length();
        GrammarSize.require(
                literals <= GrammarSize.LITERAL_CHARS,
                "the number of characters of the grammar's strings",
                literals,
                "at most " + GrammarSize.LITERAL_CHARS + "; shorten them, or split the grammar");
        return literal;
    }

    boolean isAtEnd() {
        return at == text.length();
    }

    /** Returns the code point at the position, or -1 at the end. */
    int peek() {
        return isAtEnd() ? -1 : text.codePointAt(at);
    }

    int next() {
        if (isAtEnd()) {
            throw malformed("it ends too early");
        }
        int codePoint = text.codePointAt(at);
        at += Character.charCount(codePoint);
        return codePoint;
    }

    boolean startsWith(String token) {
        return text.startsWith(token, at);
    }

    boolean accept(String token) {
        if (!startsWith(token)) {
            return false;
        }
        at += token.length();
        return true;
    }

    void expect(String token) {
        if (!accept(token)) {
            throw malformed("'" + token + "' is expected");
        }
    }

    int position() {
        return at;
    }

    void moveTo(int position) {
        at = position;
    }

    String since(int start) {
        return text.substring(start, at);
    }

    String rest() {
        return text.substring(at);
    }

    /** Skips white space, comments and, if allowed, line ends. */
    void skipSpace(boolean newlines, String comment) {
        while (!isAtEnd()) {
            if (startsWith(comment)) {
                skipLine();
            } else if (peek() == ' ' || peek() == '\t' || (newlines && (peek() == '\n' || peek() == '\r'))) {
                at++;
            } else {
                return;
            }
        }
    }

    void skipLine() {
        while (!isAtEnd() && peek() != '\n') {
            at++;
        }
    }

    /** Reads a name of ASCII letters, digits and some other characters; empty if there is none. */
    String name(String others) {
        int start = at;
        while (!isAtEnd()
                && ((Character.isLetterOrDigit(text.charAt(at)) && text.charAt(at) < 128)
                        || others.indexOf(text.charAt(at)) >= 0)) {
            at++;
        }
        return since(start);
    }

    /** Reads a number; returns -1 if there is none. */
    int number() {
        int start = at;
        while (!isAtEnd() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (start == at) {
            return -1;
        }
        String digits = since(start);
        GrammarSize.require(
                digits.length() <= 7 && Integer.parseInt(digits) <= GrammarSize.REPETITIONS,
                "a repetition's count",
                digits,
                "at most " + GrammarSize.REPETITIONS);
        return Integer.parseInt(digits);
    }

    /** Reads a repetition after an operand: {@code ? * + {n} {n,} {,n} {n,m}}; returns null if there is none. */
    int @Nullable [] repetition() {
        if (accept("*")) {
            return new int[] {0, Regex.Repeat.UNBOUNDED};
        }
        if (accept("+")) {
            return new int[] {1, Regex.Repeat.UNBOUNDED};
        }
        if (accept("?")) {
            return new int[] {0, 1};
        }
        if (!accept("{")) {
            return null;
        }
        skipSpace(false, "\n");
        int min = number();
        int max = min;
        skipSpace(false, "\n");
        if (accept(",")) {
            skipSpace(false, "\n");
            max = number();
            max = max < 0 ? Regex.Repeat.UNBOUNDED : max;
            min = Math.max(0, min);
            skipSpace(false, "\n");
        }
        expect("}");
        return range(min, max);
    }

    int[] range(int min, int max) {
        if (min < 0 || min > max) {
            throw malformed("a repetition needs a range such as {2,5}");
        }
        return new int[] {min, max};
    }

    /** Reads an escape after its backslash. */
    int escape() {
        int c = next();
        return switch (c) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'f' -> '\f';
            case 'b' -> '\b';
            case 'x' -> hex(2);
            case 'u' -> hex(4);
            case 'U' -> hex(8);
            default -> {
                if (c < 128 && Character.isLetterOrDigit(c)) {
                    throw malformed("escape \\" + (char) c + " is not supported");
                }
                yield c;
            }
        };
    }

    private int hex(int digits) {
        int value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = isAtEnd() ? -1 : Character.digit(text.charAt(at), 16);
            if (digit < 0 || value > Character.MAX_CODE_POINT >> 4) {
                throw malformed("an escape needs " + digits + " hexadecimal digits of a code point");
            }
            value = value * 16 + digit;
            at++;
        }
        boolean surrogate = value >= Character.MIN_SURROGATE && value <= Character.MAX_SURROGATE;
        if (surrogate || value > Character.MAX_CODE_POINT) {
            throw malformed("an escape is not a Unicode scalar value");
        }
        return value;
    }

    BadInput malformed(String reason) {
        int line = 1;
        int start = 0;
        for (int i = 0; i < at; i++) {
            if (text.charAt(i) == '\n') {
                line++;
                start = i + 1;
            }
        }
        int end = Math.min(text.length(), start + 80);
        String shown = text.substring(start, end).lines().findFirst().orElse("");
        return new BadInput("the " + language + " grammar is malformed at line " + line + ", column " + (at - start + 1)
                + ": " + reason + "; the line is " + Quoted.name(shown));
    }
}
