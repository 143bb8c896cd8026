package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Lexer.Token;
import io.roseinfer.tokenizer.chat.jinja.Lexer.Token.Kind;
import java.util.List;

/** The parsers' position in a template's tokens. */
final class Cursor {
    /** More nesting than real templates have, and less than a thread's stack allows. */
    private static final int MAX_DEPTH = 100;

    private final List<Token> tokens;
    private int at;
    private int depth;

    Cursor(List<Token> tokens) {
        this.tokens = tokens;
    }

    Token peek() {
        return tokens.get(at);
    }

    /** Returns the token after the next one. */
    Token peekSecond() {
        return tokens.get(Math.min(at + 1, tokens.size() - 1));
    }

    Token next() {
        Token token = tokens.get(at);
        at = Math.min(at + 1, tokens.size() - 1);
        return token;
    }

    int line() {
        return peek().line();
    }

    boolean accept(String operator) {
        boolean is = peek().isOperator(operator);
        if (is) {
            Token unused = next();
        }
        return is;
    }

    boolean acceptName(String name) {
        boolean is = peek().isName(name);
        if (is) {
            Token unused = next();
        }
        return is;
    }

    void expect(String operator) {
        if (!accept(operator)) {
            throw unexpected('"' + operator + '"');
        }
    }

    void expectName(String name) {
        if (!acceptName(name)) {
            throw unexpected('"' + name + '"');
        }
    }

    void expect(Kind kind, String shown) {
        if (peek().kind() != kind) {
            throw unexpected(shown);
        }
        Token unused = next();
    }

    /** Reads a name. */
    String name() {
        if (peek().kind() != Kind.NAME) {
            throw unexpected("a name");
        }
        return next().text();
    }

    void enter() {
        if (++depth > MAX_DEPTH) {
            throw refused("the template is nested more than " + MAX_DEPTH + " deep");
        }
    }

    void leave() {
        depth--;
    }

    TemplateError unexpected(String expected) {
        return refused(peek().shown() + " instead of " + expected);
    }

    TemplateError refused(String message) {
        return new TemplateError(line(), message);
    }
}
