package io.roseinfer.grammar;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads llama.cpp's GBNF: rules {@code name ::= ...} of literals, character classes, {@code .}, groups, alternatives
 * and repetitions. Tokens such as {@code <|eot|>} are special tokens; those by number are rejected.
 */
final class GbnfParser {
    private final GrammarText text;
    private final Map<String, Expression> rules = new LinkedHashMap<>();
    private int nesting;

    private GbnfParser(String text) {
        this.text = new GrammarText("GBNF", text);
    }

    /**
     * Returns the grammar of a text; its start rule is {@code root}.
     *
     * @throws BadInput if the text is malformed or too large, or a rule is not defined
     */
    static Grammar parse(String text) {
        GbnfParser parser = new GbnfParser(text);
        parser.readRules();
        if (!parser.rules.containsKey("root")) {
            throw new BadInput("the GBNF grammar has no rule root");
        }
        return new Grammar("root", TerminalMerger.merged(parser.rules));
    }

    private void readRules() {
        text.skipSpace(true, "#");
        while (!text.isAtEnd()) {
            String name = text.name("-_");
            if (name.isEmpty()) {
                throw text.malformed("a rule's name is expected");
            }
            text.skipSpace(true, "#");
            text.expect("::=");
            text.skipSpace(true, "#");
            if (rules.containsKey(name)) {
                throw text.malformed("rule " + Quoted.name(name) + " is defined twice");
            }
            rules.put(name, alternatives(false));
            text.skipSpace(true, "#");
        }
    }

    private Expression alternatives(boolean grouped) {
        GrammarSize.require(
                ++nesting <= GrammarSize.NESTING,
                "the nesting of a grammar",
                nesting,
                "at most " + GrammarSize.NESTING);
        List<Expression> alternatives = new ArrayList<>();
        do {
            text.skipSpace(true, "#");
            alternatives.add(sequence(grouped));
        } while (text.accept("|"));
        nesting--;
        return Expression.choice(alternatives);
    }

    private Expression sequence(boolean grouped) {
        List<Expression> parts = new ArrayList<>();
        while (true) {
            // A rule ends with its line, unless the line ends with '|'.
            text.skipSpace(grouped, "#");
            int c = text.peek();
            if (c == -1 || c == '|' || c == ')' || c == '\n' || c == '\r') {
                if (c == ')' && !grouped) {
                    throw text.malformed("')' has no '('");
                }
                if ((c == '\n' || c == '\r') && continues()) {
                    continue;
                }
                return Expression.sequence(parts);
            }
            Expression part = atom(c);
            for (int[] range = text.repetition(); range != null; range = text.repetition()) {
                part = Expression.repeat(part, range[0], range[1]);
            }
            parts.add(part);
        }
    }

    /** Moves to a '|' that begins the next line, if one does. */
    private boolean continues() {
        int start = text.position();
        text.skipSpace(true, "#");
        if (text.peek() == '|') {
            return true;
        }
        text.moveTo(start);
        return false;
    }

    private Expression atom(int c) {
        if (text.accept("\"")) {
            StringBuilder literal = new StringBuilder();
            while (!text.accept("\"")) {
                literal.appendCodePoint(character());
            }
            return Expression.literal(text.literal(literal.toString()));
        }
        if (text.accept("[")) {
            return Expression.terminal(Regex.chars(characterClass()));
        }
        if (text.accept("(")) {
            Expression inner = alternatives(true);
            text.skipSpace(true, "#");
            text.expect(")");
            return inner;
        }
        if (text.accept(".")) {
            return Expression.terminal(Regex.chars(CodePointSet.ALL));
        }
        if (c == '<' || c == '!') {
            return token();
        }
        String name = text.name("-_");
        if (name.isEmpty()) {
            throw text.malformed("'" + Character.toString(c) + "' begins no expression");
        }
        return Expression.reference(name);
    }

    private int character() {
        int c = text.next();
        if (c == '\n') {
            throw text.malformed("a literal or class ends with its line");
        }
        return c == '\\' ? text.escape() : c;
    }

    private CodePointSet characterClass() {
        boolean negated = text.accept("^");
        CodePointSet set = CodePointSet.NONE;
        while (!text.accept("]")) {
            int first = character();
            int last = first;
            if (text.startsWith("-") && !text.startsWith("-]")) {
                text.expect("-");
                last = character();
            }
            if (first > last) {
                throw text.malformed("a range of a class is in descending order");
            }
            set = set.union(CodePointSet.range(first, last));
        }
        return negated ? set.complement() : set;
    }

    private Expression token() {
        if (text.accept("!")) {
            throw text.malformed("a negated token is not supported");
        }
        int start = text.position();
        while (text.peek() != '>') {
            if (text.peek() == '\n') {
                throw text.malformed("a token has no '>'");
            }
            text.next();
        }
        text.expect(">");
        String name = text.since(start);
        if (name.startsWith("<[")) {
            throw text.malformed("a token by number is not supported; write its name");
        }
        return new Expression.TokenReference(name);
    }
}
