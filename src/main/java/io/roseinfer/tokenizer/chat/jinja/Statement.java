package io.roseinfer.tokenizer.chat.jinja;

import java.util.List;
import java.util.Optional;

/** What a template does at a place. */
sealed interface Statement {
    /** The line it begins at, from 1. */
    int line();

    record Data(String text, int line) implements Statement {}

    record Output(Expression value, int line) implements Statement {}

    record If(List<Branch> branches, List<Statement> otherwise, int line) implements Statement {}

    record Branch(Expression test, List<Statement> body) {}

    /**
     * A body for each item.
     *
     * @param filter says which items are looped over; {@code loop} counts only those
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

    /** Sets a name to the text that a body writes, filtered. */
    record SetBlock(Target target, List<Expression.Filter> filters, List<Statement> body, int line)
            implements Statement {}

    record Macro(String name, List<Parameter> parameters, List<Statement> body, int line) implements Statement {}

    record Parameter(String name, Optional<Expression> absent) {}

    /** Writes the text that a body writes, filtered. */
    record FilterBlock(List<Expression.Filter> filters, List<Statement> body, int line) implements Statement {}

    /** A body with names of its own. */
    record With(List<Set> names, List<Statement> body, int line) implements Statement {}

    /** A body that is written as it is: {@code generation}. */
    record Group(List<Statement> body, int line) implements Statement {}

    record Break(int line) implements Statement {}

    record Continue(int line) implements Statement {}

    /** What is assigned to. */
    sealed interface Target {
        record Name(String name) implements Target {}

        /** A field of a {@code namespace}. */
        record Field(String namespace, String name) implements Target {}

        record Several(List<Target> targets) implements Target {}
    }
}
