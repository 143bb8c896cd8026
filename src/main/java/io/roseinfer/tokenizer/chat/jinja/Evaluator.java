package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Expression.Arguments;
import io.roseinfer.tokenizer.chat.jinja.Expression.Comparand;
import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Function;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.Real;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import io.roseinfer.tokenizer.chat.jinja.Value.Undefined;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Evaluates expressions within a scope. */
final class Evaluator {
    private final Budget budget;

    Evaluator(Budget budget) {
        this.budget = budget;
    }

    Value evaluate(Expression expression, Scope scope) {
        budget.spend(1);
        budget.enter();
        Value value = value(expression, scope);
        budget.leave();
        return value;
    }

    boolean holds(Expression expression, Scope scope) {
        return Operators.truth(evaluate(expression, scope));
    }

    private Value value(Expression expression, Scope scope) {
        return switch (expression) {
            case Expression.Constant(Value value) -> value;
            case Expression.Name(String name) -> scope.get(name);
            case Expression.Attribute(Expression object, String name) ->
                Operators.attribute(evaluate(object, scope), name, budget);
            case Expression.Item(Expression object, Expression key) ->
                Operators.item(evaluate(object, scope), evaluate(key, scope), budget);
            case Expression.Slice(Expression object, var start, var stop, var step) ->
                Operators.slice(
                        evaluate(object, scope),
                        evaluate(start, scope),
                        evaluate(stop, scope),
                        evaluate(step, scope),
                        budget);
            case Expression.Call(Expression function, Arguments arguments) -> call(function, arguments, scope);
            case Expression.Filter(Expression input, String name, Arguments arguments) ->
                filter(name, evaluate(input, scope), arguments, scope);
            case Expression.Test(Expression input, String name, Arguments arguments) ->
                Bool.of(ValueTests.holds(name, evaluate(input, scope), given(name, arguments, scope)));
            case Expression.Negation(Expression operand) -> Bool.of(!holds(operand, scope));
            case Expression.Sign(boolean minus, Expression operand) -> signed(minus, evaluate(operand, scope));
            case Expression.Arithmetic(String operator, Expression left, Expression right) ->
                Operators.arithmetic(operator, evaluate(left, scope), evaluate(right, scope), budget);
            case Expression.Concatenation(List<Expression> operands) -> concatenation(operands, scope);
            case Expression.Comparison(Expression first, List<Comparand> rest) -> comparison(first, rest, scope);
            case Expression.Both(Expression left, Expression right) -> {
                Value value = evaluate(left, scope);
                yield Operators.truth(value) ? evaluate(right, scope) : value;
            }
            case Expression.Either(Expression left, Expression right) -> {
                Value value = evaluate(left, scope);
                yield Operators.truth(value) ? value : evaluate(right, scope);
            }
            case Expression.Choice(Expression test, Expression then, var otherwise) ->
                holds(test, scope)
                        ? evaluate(then, scope)
                        : evaluate(otherwise, scope).orElse(new Undefined("an if without else"));
            case Expression.ListOf(List<Expression> elements) -> Items.list(all(elements, scope));
            case Expression.TupleOf(List<Expression> elements) ->
                new Items(all(elements, scope), Items.Kind.TUPLE);
            case Expression.DictOf(List<Expression> keys, List<Expression> values) -> dict(keys, values, scope);
        };
    }

    private Optional<Value> evaluate(Optional<Expression> expression, Scope scope) {
        return expression.map(present -> evaluate(present, scope));
    }

    private List<Value> all(List<Expression> expressions, Scope scope) {
        List<Value> values = new ArrayList<>();
        for (Expression expression : expressions) {
            values.add(evaluate(expression, scope));
        }
        return values;
    }

    private Value dict(List<Expression> keys, List<Expression> values, Scope scope) {
        Map<Value, Value> entries = new LinkedHashMap<>();
        for (int i = 0; i < keys.size(); i++) {
            entries.put(evaluate(keys.get(i), scope), evaluate(values.get(i), scope));
        }
        return new Dict(entries);
    }

    private Given given(String callee, Arguments arguments, Scope scope) {
        Map<String, Value> named = new LinkedHashMap<>();
        List<Value> positional = all(arguments.positional(), scope);
        arguments.named().forEach(keyword -> named.put(keyword.name(), evaluate(keyword.value(), scope)));
        return new Given(callee, positional, named);
    }

    Value filter(String name, Value input, Arguments arguments, Scope scope) {
        return Filters.apply(name, input, given(name, arguments, scope), budget);
    }

    private Value call(Expression function, Arguments arguments, Scope scope) {
        return switch (evaluate(function, scope)) {
            case Function(String name, Function.Body body) -> body.call(given(name, arguments, scope));
            case Undefined(String name) -> throw new TemplateError(name + " is undefined, so it cannot be called");
            case Value other -> throw new TemplateError(Operators.typeName(other) + " cannot be called");
        };
    }

    private static Value signed(boolean minus, Value value) {
        if (value instanceof Real(double number)) {
            return new Real(minus ? -number : number);
        }
        long number = Numbers.integer(value, "the operand of a sign");
        return new Int(minus ? Math.negateExact(number) : number);
    }

    private Value concatenation(List<Expression> operands, Scope scope) {
        List<String> parts = new ArrayList<>();
        for (Expression operand : operands) {
            parts.add(PythonText.str(evaluate(operand, scope)));
        }
        return new Text(TextParts.join("", parts, budget));
    }

    private Value comparison(Expression first, List<Comparand> rest, Scope scope) {
        Value left = evaluate(first, scope);
        for (Comparand comparand : rest) {
            Value right = evaluate(comparand.operand(), scope);
            if (!Operators.compare(comparand.operator(), left, right)) {
                return Bool.FALSE;
            }
            left = right;
        }
        return Bool.TRUE;
    }
}
