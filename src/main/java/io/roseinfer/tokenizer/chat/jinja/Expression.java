package io.roseinfer.tokenizer.chat.jinja;

import java.util.List;
import java.util.Optional;

/** A node of the syntax tree that has a value. */
sealed interface Expression {
    record Constant(Value value) implements Expression {}

    record Name(String name) implements Expression {}

    record Attribute(Expression object, String name) implements Expression {}

    record Item(Expression object, Expression key) implements Expression {}

    record Slice(Expression object, Optional<Expression> start, Optional<Expression> stop, Optional<Expression> step)
            implements Expression {}

    record Call(Expression function, Arguments arguments) implements Expression {}

    record Filter(Expression input, String name, Arguments arguments) implements Expression {}

    record Test(Expression input, String name, Arguments arguments) implements Expression {}

    record Negation(Expression operand) implements Expression {}

    /** A sign: {@code -x} or {@code +x}. */
    record Sign(boolean minus, Expression operand) implements Expression {}

    record Arithmetic(String operator, Expression left, Expression right) implements Expression {}

    /** Operands joined by {@code ~}. */
    record Concatenation(List<Expression> operands) implements Expression {}

    /** {@code a < b <= c}, which is true if each adjacent pair is. */
    record Comparison(Expression first, List<Comparand> rest) implements Expression {}

    record Comparand(String operator, Expression operand) {}

    record Both(Expression left, Expression right) implements Expression {}

    record Either(Expression left, Expression right) implements Expression {}

    /** {@code then if test else otherwise}. */
    record Choice(Expression test, Expression then, Optional<Expression> otherwise) implements Expression {}

    record ListOf(List<Expression> elements) implements Expression {}

    record TupleOf(List<Expression> elements) implements Expression {}

    record DictOf(List<Expression> keys, List<Expression> values) implements Expression {}

    /** The arguments of a call, a filter or a test. */
    record Arguments(List<Expression> positional, List<Keyword> named) {
        static final Arguments NONE = new Arguments(List.of(), List.of());
    }

    record Keyword(String name, Expression value) {}
}
