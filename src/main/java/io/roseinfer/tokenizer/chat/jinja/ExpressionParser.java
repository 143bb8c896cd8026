package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Lexer.Token;
import io.roseinfer.tokenizer.chat.jinja.Expression.Arguments;
import io.roseinfer.tokenizer.chat.jinja.Expression.Comparand;
import io.roseinfer.tokenizer.chat.jinja.Expression.Keyword;
import io.roseinfer.tokenizer.chat.jinja.Lexer.Token.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Parses expressions by precedence, from lowest to highest: {@code if else}, {@code or}, {@code and}, {@code not},
 * comparisons, sums, {@code ~}, products, powers, signs, and then the suffixes of an operand: members, calls, filters,
 * tests.
 */
final class ExpressionParser {
    private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");

    /** Words after a test that are not its argument. */
    private static final Set<String> AFTER_TESTS = Set.of("else", "or", "and");

    private final Cursor tokens;

    ExpressionParser(Cursor tokens) {
        this.tokens = tokens;
    }

    /** Parses one expression, or several separated by commas, which are a tuple. */
    Expression tuple() {
        return tupleOf(expression());
    }

    /** Parses the items of a loop: like {@link #tuple}, but without {@code if}. */
    Expression loopItems() {
        return tupleOf(either());
    }

    private Expression tupleOf(Expression first) {
        if (!tokens.peek().isOperator(",")) {
            return first;
        }
        List<Expression> elements = new ArrayList<>(List.of(first));
        while (tokens.accept(",") && !endsTuple()) {
            elements.add(expression());
        }
        return new Expression.TupleOf(elements);
    }

    private boolean endsTuple() {
        Kind kind = tokens.peek().kind();
        return kind == Kind.BLOCK_END || kind == Kind.OUTPUT_END || tokens.peek().isOperator(")");
    }

    Expression expression() {
        tokens.enter();
        Expression value = either();
        while (tokens.acceptName("if")) {
            Expression test = either();
            Optional<Expression> otherwise =
                    tokens.acceptName("else") ? Optional.of(expression()) : Optional.empty();
            value = new Expression.Choice(test, value, otherwise);
        }
        tokens.leave();
        return value;
    }

    private Expression either() {
        Expression left = both();
        while (tokens.acceptName("or")) {
            left = new Expression.Either(left, both());
        }
        return left;
    }

    private Expression both() {
        Expression left = negation();
        while (tokens.acceptName("and")) {
            left = new Expression.Both(left, negation());
        }
        return left;
    }

    private Expression negation() {
        int negations = 0;
        while (tokens.acceptName("not")) {
            negations++;
        }
        Expression value = comparison();
        for (int i = 0; i < negations; i++) {
            value = new Expression.Negation(value);
        }
        return value;
    }

    private Expression comparison() {
        Expression first = sum();
        List<Comparand> rest = new ArrayList<>();
        while (true) {
            Token token = tokens.peek();
            String operator;
            if (token.kind() == Kind.OPERATOR && COMPARISONS.contains(token.text())) {
                operator = tokens.next().text();
            } else if (tokens.acceptName("in")) {
                operator = "in";
            } else if (token.isName("not") && tokens.peekSecond().isName("in")) {
                tokens.expectName("not");
                tokens.expectName("in");
                operator = "not in";
            } else {
                return rest.isEmpty() ? first : new Expression.Comparison(first, rest);
            }
            rest.add(new Comparand(operator, sum()));
        }
    }

    private Expression sum() {
        Expression left = concatenation();
        while (tokens.peek().isOperator("+") || tokens.peek().isOperator("-")) {
            String operator = tokens.next().text();
            Expression right = concatenation();
            requireNotSafe(left);
            requireNotSafe(right);
            left = new Expression.Arithmetic(operator, left, right);
        }
        return left;
    }

    /**
     * Rejects {@code safe} operands of {@code +}: Jinja HTML-escapes what is added to them. Elsewhere {@code safe} has
     * no effect here.
     */
    private void requireNotSafe(Expression operand) {
        if (operand instanceof Expression.Filter filter && filter.name().equals("safe")) {
            throw tokens.refused("\"+\" after the filter \"safe\" is not supported; use \"~\"");
        }
    }

    private Expression concatenation() {
        List<Expression> operands = new ArrayList<>(List.of(product()));
        while (tokens.accept("~")) {
            operands.add(product());
        }
        return operands.size() == 1 ? operands.getFirst() : new Expression.Concatenation(operands);
    }

    private Expression product() {
        Expression left = power();
        while (tokens.peek().kind() == Kind.OPERATOR
                && Set.of("*", "/", "//", "%").contains(tokens.peek().text())) {
            left = new Expression.Arithmetic(tokens.next().text(), left, power());
        }
        return left;
    }

    private Expression power() {
        Expression left = signed(true);
        while (tokens.accept("**")) {
            left = new Expression.Arithmetic("**", left, signed(true));
        }
        return left;
    }

    private Expression signed(boolean withFilters) {
        tokens.enter();
        Expression value;
        if (tokens.accept("-")) {
            value = new Expression.Sign(true, signed(false));
        } else if (tokens.accept("+")) {
            value = new Expression.Sign(false, signed(false));
        } else {
            value = primary();
        }
        value = members(value);
        if (withFilters) {
            value = filters(value);
        }
        tokens.leave();
        return value;
    }

    private Expression primary() {
        Token token = tokens.peek();
        return switch (token.kind()) {
            case NAME -> name(tokens.next().text());
            case STRING -> {
                StringBuilder text = new StringBuilder();
                while (tokens.peek().kind() == Kind.STRING) {
                    text.append(tokens.next().text());
                }
                yield new Expression.Constant(new Value.Text(text.toString()));
            }
            case INTEGER -> new Expression.Constant(Numbers.integerLiteral(tokens.next()));
            case FLOAT -> {
                String digits = tokens.next().text().replace("_", "");
                yield new Expression.Constant(new Value.Real(Double.parseDouble(digits)));
            }
            default -> bracketed();
        };
    }

    private Expression name(String name) {
        return switch (name) {
            case "true", "True" -> new Expression.Constant(Value.Bool.TRUE);
            case "false", "False" -> new Expression.Constant(Value.Bool.FALSE);
            case "none", "None" -> new Expression.Constant(Value.None.NONE);
            default -> {
                if (Globals.UNSUPPORTED.contains(name) && tokens.peek().isOperator("(")) {
                    throw tokens.refused("the function \"" + name + "\" is not supported");
                }
                yield new Expression.Name(name);
            }
        };
    }

    private Expression bracketed() {
        if (tokens.accept("(")) {
            if (tokens.accept(")")) {
                return new Expression.TupleOf(List.of());
            }
            Expression inside = tuple();
            tokens.expect(")");
            return inside;
        }
        if (tokens.accept("[")) {
            List<Expression> elements = new ArrayList<>();
            while (!tokens.accept("]")) {
                elements.add(expression());
                requireSeparator("]");
            }
            return new Expression.ListOf(elements);
        }
        if (tokens.accept("{")) {
            return dict();
        }
        throw tokens.unexpected("a value");
    }

    private Expression dict() {
        List<Expression> keys = new ArrayList<>();
        List<Expression> values = new ArrayList<>();
        while (!tokens.accept("}")) {
            keys.add(expression());
            tokens.expect(":");
            values.add(expression());
            requireSeparator("}");
        }
        return new Expression.DictOf(keys, values);
    }

    private void requireSeparator(String closing) {
        if (!tokens.peek().isOperator(closing)) {
            tokens.expect(",");
        }
    }

    /** Parses attributes, items and calls after an operand. */
    private Expression members(Expression operand) {
        Expression value = operand;
        while (true) {
            if (tokens.accept(".")) {
                value = attribute(value);
            } else if (tokens.accept("[")) {
                value = subscript(value);
                tokens.expect("]");
            } else if (tokens.peek().isOperator("(")) {
                value = call(value);
            } else {
                return value;
            }
        }
    }

    private Expression attribute(Expression object) {
        if (tokens.peek().kind() == Kind.INTEGER) {
            return new Expression.Item(object, new Expression.Constant(Numbers.integerLiteral(tokens.next())));
        }
        return new Expression.Attribute(object, tokens.name());
    }

    private Expression call(Expression function) {
        if (function instanceof Expression.Attribute(Expression ignored, String name) && !Methods.isKnown(name)) {
            throw tokens.refused("the method \"" + name + "\" is not supported");
        }
        return new Expression.Call(function, arguments());
    }

    private Expression subscript(Expression object) {
        Optional<Expression> start = tokens.peek().isOperator(":") ? Optional.empty() : Optional.of(expression());
        if (start.isPresent() && !tokens.peek().isOperator(":")) {
            return new Expression.Item(object, start.get());
        }
        tokens.expect(":");
        Optional<Expression> stop = bound();
        Optional<Expression> step = tokens.accept(":") ? bound() : Optional.empty();
        return new Expression.Slice(object, start, stop, step);
    }

    private Optional<Expression> bound() {
        boolean absent = tokens.peek().isOperator(":") || tokens.peek().isOperator("]");
        return absent ? Optional.empty() : Optional.of(expression());
    }

    private Arguments arguments() {
        List<Expression> positional = new ArrayList<>();
        List<Keyword> named = new ArrayList<>();
        tokens.expect("(");
        while (!tokens.accept(")")) {
            if (tokens.peek().isOperator("*") || tokens.peek().isOperator("**")) {
                throw tokens.refused("arguments by \"" + tokens.peek().text() + "\" are not supported");
            }
            if (tokens.peek().kind() == Kind.NAME && tokens.peekSecond().isOperator("=")) {
                String name = tokens.name();
                tokens.expect("=");
                named.add(new Keyword(name, expression()));
            } else if (named.isEmpty()) {
                positional.add(expression());
            } else {
                throw tokens.unexpected("a named argument");
            }
            requireSeparator(")");
        }
        return new Arguments(positional, named);
    }

    /** Parses filters, tests and calls after an operand. */
    private Expression filters(Expression operand) {
        Expression value = operand;
        while (true) {
            if (tokens.accept("|")) {
                value = filter(value);
            } else if (tokens.acceptName("is")) {
                value = test(value);
            } else if (tokens.peek().isOperator("(")) {
                value = call(value);
            } else {
                return value;
            }
        }
    }

    /** Parses the filters after a bar that has been read: {@code upper|trim}. */
    List<Expression.Filter> filterChain() {
        List<Expression.Filter> chain = new ArrayList<>();
        do {
            chain.add(filter(new Expression.Constant(new Value.Text(""))));
        } while (tokens.accept("|"));
        return chain;
    }

    private Expression.Filter filter(Expression input) {
        String name = dotted();
        Arguments arguments = tokens.peek().isOperator("(") ? arguments() : Arguments.NONE;
        requireFilter(name);
        switch (name) {
            case "map" -> literal(arguments, 0).ifPresent(this::requireFilter);
            case "select", "reject" -> literal(arguments, 0).ifPresent(this::requireTest);
            case "selectattr", "rejectattr" -> literal(arguments, 1).ifPresent(this::requireTest);
            default -> {}
        }
        return new Expression.Filter(input, name, arguments);
    }

    private static Optional<String> literal(Arguments arguments, int index) {
        return index < arguments.positional().size()
                        && arguments.positional().get(index)
                                instanceof Expression.Constant(Value.Text(String text))
                ? Optional.of(text)
                : Optional.empty();
    }

    private void requireFilter(String name) {
        if (!Filters.isKnown(name)) {
            throw tokens.refused("the filter \"" + name + "\" is not supported");
        }
    }

    private void requireTest(String name) {
        if (!ValueTests.isKnown(name)) {
            throw tokens.refused("the test \"" + name + "\" is not supported");
        }
    }

    private Expression test(Expression input) {
        boolean negated = tokens.acceptName("not");
        String name = dotted();
        requireTest(name);
        Arguments arguments = Arguments.NONE;
        if (tokens.peek().isOperator("(")) {
            arguments = arguments();
        } else if (beginsArgument()) {
            if (tokens.peek().isName("is")) {
                throw tokens.refused("tests cannot be chained with \"is\"");
            }
            arguments = new Arguments(List.of(members(primary())), List.of());
        }
        Expression test = new Expression.Test(input, name, arguments);
        return negated ? new Expression.Negation(test) : test;
    }

    private boolean beginsArgument() {
        Token token = tokens.peek();
        return switch (token.kind()) {
            case NAME -> !AFTER_TESTS.contains(token.text());
            case STRING, INTEGER, FLOAT -> true;
            case OPERATOR -> token.text().equals("[") || token.text().equals("{");
            default -> false;
        };
    }

    private String dotted() {
        StringBuilder name = new StringBuilder(tokens.name());
        while (tokens.accept(".")) {
            name.append('.').append(tokens.name());
        }
        return name.toString();
    }
}
