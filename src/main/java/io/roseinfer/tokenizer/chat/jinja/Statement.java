package io.roseinfer.tokenizer.chat.jinja;

import java.util.List;
import java.util.Optional;

/** A statement of a template. */
sealed interface Statement {
    /** Returns the line of its beginning, from 1. */
    int line();

    record Data(String text, int line) implements Statement {}

    record Output(Expression value, int line) implements Statement {}

    record If(List<Branch> branches, List<Statement> otherwise, int line) implements Statement {}

    record Branch(Expression test, List<Statement> body) {}

    /**
     * A loop.
     *
     * @param filter selects the items to loop over; {@code loop} counts only those
     */
    record For(
            Target target,
            Expression items,
            Optional<Expression> filter,
            List<Statement> body,
            List<Statement> otherwise,
            int line)
            implements Statement {}

    record Set(Target target, Expression value, int line) implements Statement {}

    /** Assigns the filtered output of a body to a name. */
    record SetBlock(Target target, List<Expression.Filter> filters, List<Statement> body, int line)
            implements Statement {}

    record Macro(String name, List<Parameter> parameters, List<Statement> body, int line) implements Statement {}

    record Parameter(String name, Optional<Expression> absent) {}

    /** Writes the filtered output of a body. */
    record FilterBlock(List<Expression.Filter> filters, List<Statement> body, int line) implements Statement {}

    /** A body with its own names. */
    record With(List<Set> names, List<Statement> body, int line) implements Statement {}

    /** A body that is only grouped: {@code generation}. */
    record Group(List<Statement> body, int line) implements Statement {}

    record Break(int line) implements Statement {}

    record Continue(int line) implements Statement {}

    /** The target of an assignment. */
    sealed interface Target {
        record Name(String name) implements Target {}

        /** A field of a {@code namespace}. */
        record Field(String namespace, String name) implements Target {}

        record Several(List<Target> targets) implements Target {}
    }
}
