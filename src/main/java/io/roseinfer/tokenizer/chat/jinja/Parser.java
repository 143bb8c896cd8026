package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Lexer.Token;
import io.roseinfer.tokenizer.chat.jinja.Lexer.Token.Kind;
import io.roseinfer.tokenizer.chat.jinja.Statement.Branch;
import io.roseinfer.tokenizer.chat.jinja.Statement.Parameter;
import io.roseinfer.tokenizer.chat.jinja.Statement.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Parses tokens into statements. */
final class Parser {
    private final Cursor tokens;
    private final ExpressionParser expressions;
    private int loops;

    private Parser(List<Token> tokens) {
        this.tokens = new Cursor(tokens);
        this.expressions = new ExpressionParser(this.tokens);
    }

    /** Parses all statements of a template. */
    static List<Statement> parse(String source) {
        return new Parser(Lexer.read(source)).body(Set.of());
    }

    /**
     * Parses statements up to a block with one of these names, whose name is then the next token; without names, up to
     * the template's end.
     */
    private List<Statement> body(Set<String> ends) {
        tokens.enter();
        List<Statement> statements = new ArrayList<>();
        while (true) {
            Token token = tokens.next();
            switch (token.kind()) {
                case DATA -> statements.add(new Statement.Data(token.text(), token.line()));
                case OUTPUT_BEGIN -> {
                    statements.add(new Statement.Output(expressions.tuple(), token.line()));
                    tokens.expect(Kind.OUTPUT_END, "\"}}\"");
                }
                case BLOCK_BEGIN -> {
                    if (tokens.peek().kind() == Kind.NAME
                            && ends.contains(tokens.peek().text())) {
                        tokens.leave();
                        return statements;
                    }
                    statements.add(block(token.line()));
                }
                default -> {
                    if (!ends.isEmpty()) {
                        throw new TemplateError(
                                token.line(), "the template ends within a block; " + ends + " is missing");
                    }
                    tokens.leave();
                    return statements;
                }
            }
        }
    }

    private void endBlock() {
        tokens.expect(Kind.BLOCK_END, "\"%}\"");
    }

    /** Parses a body up to and including a block with this name. */
    private List<Statement> bodyTo(String end) {
        endBlock();
        List<Statement> body = body(Set.of(end));
        tokens.expectName(end);
        endBlock();
        return body;
    }

    private Statement block(int line) {
        String name = tokens.peek().kind() == Kind.NAME
                ? tokens.peek().text()
                : tokens.peek().shown();
        Token unused = tokens.next();
        return switch (name) {
            case "if" -> branches(line);
            case "for" -> loop(line);
            case "set" -> set(line);
            case "macro" -> macro(line);
            case "filter" -> new Statement.FilterBlock(expressions.filterChain(), bodyTo("endfilter"), line);
            case "with" -> with(line);
            case "generation" -> new Statement.Group(bodyTo("endgeneration"), line);
            case "break", "continue" -> jump(name, line);
            default -> throw new TemplateError(line, "the statement \"" + name + "\" is not supported");
        };
    }

    private Statement branches(int line) {
        List<Branch> branches = new ArrayList<>();
        Set<String> ends = Set.of("elif", "else", "endif");
        do {
            Expression test = expressions.tuple();
            endBlock();
            branches.add(new Branch(test, body(ends)));
        } while (tokens.acceptName("elif"));
        List<Statement> otherwise = List.of();
        if (tokens.acceptName("else")) {
            endBlock();
            otherwise = body(Set.of("endif"));
        }
        tokens.expectName("endif");
        endBlock();
        return new Statement.If(branches, otherwise, line);
    }

    private Statement loop(int line) {
        Target target = target();
        tokens.expectName("in");
        Expression items = expressions.loopItems();
        Optional<Expression> filter =
                tokens.acceptName("if") ? Optional.of(expressions.expression()) : Optional.empty();
        if (tokens.peek().isName("recursive")) {
            throw tokens.refused("recursive loops are not supported");
        }
        endBlock();
        loops++;
        List<Statement> body = body(Set.of("else", "endfor"));
        loops--;
        List<Statement> otherwise = List.of();
        if (tokens.acceptName("else")) {
            endBlock();
            otherwise = body(Set.of("endfor"));
        }
        tokens.expectName("endfor");
        endBlock();
        return new Statement.For(target, items, filter, body, otherwise, line);
    }

    private Statement set(int line) {
        Target target = target();
        if (tokens.accept("=")) {
            Expression value = expressions.tuple();
            endBlock();
            return new Statement.Set(target, value, line);
        }
        List<Expression.Filter> filters = tokens.accept("|") ? expressions.filterChain() : List.of();
        return new Statement.SetBlock(target, filters, bodyTo("endset"), line);
    }

    private Statement macro(int line) {
        String name = tokens.name();
        List<Parameter> parameters = new ArrayList<>();
        tokens.expect("(");
        while (!tokens.accept(")")) {
            String parameter = tokens.name();
            Optional<Expression> absent = tokens.accept("=") ? Optional.of(expressions.expression()) : Optional.empty();
            parameters.add(new Parameter(parameter, absent));
            if (!tokens.peek().isOperator(")")) {
                tokens.expect(",");
            }
        }
        int outerLoops = loops;
        loops = 0;
        List<Statement> body = bodyTo("endmacro");
        loops = outerLoops;
        return new Statement.Macro(name, parameters, body, line);
    }

    private Statement with(int line) {
        List<Statement.Set> names = new ArrayList<>();
        while (tokens.peek().kind() != Kind.BLOCK_END) {
            if (!names.isEmpty()) {
                tokens.expect(",");
            }
            Target target = oneTarget();
            tokens.expect("=");
            names.add(new Statement.Set(target, expressions.expression(), line));
        }
        return new Statement.With(names, bodyTo("endwith"), line);
    }

    private Statement jump(String name, int line) {
        if (loops == 0) {
            throw new TemplateError(line, '"' + name + "\" is outside of a loop");
        }
        endBlock();
        return name.equals("break") ? new Statement.Break(line) : new Statement.Continue(line);
    }

    private Target target() {
        Target first = oneTarget();
        if (!tokens.peek().isOperator(",")) {
            return first;
        }
        List<Target> targets = new ArrayList<>(List.of(first));
        while (tokens.accept(",")) {
            targets.add(oneTarget());
        }
        return new Target.Several(targets);
    }

    private Target oneTarget() {
        if (tokens.accept("(")) {
            Target inside = target();
            tokens.expect(")");
            return inside;
        }
        String name = tokens.name();
        return tokens.accept(".") ? new Target.Field(name, tokens.name()) : new Target.Name(name);
    }
}
