package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Statement.Branch;
import io.roseinfer.tokenizer.chat.jinja.Statement.Parameter;
import io.roseinfer.tokenizer.chat.jinja.Statement.Target;
import io.roseinfer.tokenizer.chat.jinja.Value.Function;
import io.roseinfer.tokenizer.chat.jinja.Value.Loop;
import io.roseinfer.tokenizer.chat.jinja.Value.Namespace;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import io.roseinfer.tokenizer.chat.jinja.Value.Undefined;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Executes the statements of one rendering. */
final class Interpreter {
    /** The way a statement completed. */
    private enum Flow {
        ON,
        BREAK,
        CONTINUE
    }

    private final Budget budget = new Budget();
    private final Evaluator evaluator = new Evaluator(budget);
    private int line;

    /** Returns the line of the current statement. */
    int line() {
        return line;
    }

    String run(List<Statement> statements, Scope scope) {
        StringBuilder out = new StringBuilder();
        Flow unused = body(statements, scope, out);
        return out.toString();
    }

    private Flow body(List<Statement> statements, Scope scope, StringBuilder out) {
        budget.enter();
        Flow flow = Flow.ON;
        for (int i = 0; i < statements.size() && flow == Flow.ON; i++) {
            budget.spend(1);
            line = statements.get(i).line();
            flow = statement(statements.get(i), scope, out);
        }
        budget.leave();
        return flow;
    }

    private Flow statement(Statement statement, Scope scope, StringBuilder out) {
        switch (statement) {
            case Statement.Data(String text, int ignored) -> write(text, out);
            case Statement.Output(Expression value, int ignored) ->
                write(PythonText.str(evaluator.evaluate(value, scope)), out);
            case Statement.Set(Target target, Expression value, int ignored) ->
                assign(target, evaluator.evaluate(value, scope), scope);
            case Statement.Macro macro -> scope.set(macro.name(), macro(macro, scope));
            case Statement.If choice -> {
                return body(chosen(choice, scope), scope, out);
            }
            case Statement.For loop -> {
                return loop(loop, scope, out);
            }
            case Statement.Group(List<Statement> inner, int ignored) -> {
                return body(inner, scope.inner(), out);
            }
            case Statement.With(List<Statement.Set> names, List<Statement> inner, int ignored) -> {
                Scope own = scope.inner();
                names.forEach(name -> assign(name.target(), evaluator.evaluate(name.value(), scope), own));
                return body(inner, own, out);
            }
            case Statement.SetBlock(Target target, List<Expression.Filter> filters, var inner, int ignored) -> {
                StringBuilder text = new StringBuilder();
                Flow flow = body(inner, scope.inner(), text);
                if (flow == Flow.ON) {
                    assign(target, filtered(text.toString(), filters, scope), scope);
                }
                return flow;
            }
            case Statement.FilterBlock(List<Expression.Filter> filters, var inner, int ignored) -> {
                StringBuilder text = new StringBuilder();
                Flow flow = body(inner, scope.inner(), text);
                if (flow == Flow.ON) {
                    write(PythonText.str(filtered(text.toString(), filters, scope)), out);
                }
                return flow;
            }
            case Statement.Break ignored -> {
                return Flow.BREAK;
            }
            case Statement.Continue ignored -> {
                return Flow.CONTINUE;
            }
        }
        return Flow.ON;
    }

    private void write(String text, StringBuilder out) {
        budget.append(out.length(), text.length());
        out.append(text);
    }

    private Value filtered(String text, List<Expression.Filter> filters, Scope scope) {
        Value value = new Text(text);
        for (Expression.Filter filter : filters) {
            value = evaluator.filter(filter.name(), value, filter.arguments(), scope);
        }
        return value;
    }

    private List<Statement> chosen(Statement.If choice, Scope scope) {
        for (Branch branch : choice.branches()) {
            if (evaluator.holds(branch.test(), scope)) {
                return branch.body();
            }
        }
        return choice.otherwise();
    }

    private Flow loop(Statement.For loop, Scope scope, StringBuilder out) {
        List<Value> items = items(loop, scope);
        if (items.isEmpty()) {
            return body(loop.otherwise(), scope.inner(), out);
        }
        Loop state = new Loop(items);
        boolean completed = false;
        for (int i = 0; i < items.size(); i++) {
            budget.spend(1);
            state.moveTo(i);
            Scope own = scope.inner();
            own.set("loop", state);
            assign(loop.target(), items.get(i), own);
            Flow flow = body(loop.body(), own, out);
            completed |= flow == Flow.ON;
            if (flow == Flow.BREAK) {
                break;
            }
        }
        // Like Jinja and unlike Python, run the else branch unless an iteration was completed.
        return completed ? Flow.ON : body(loop.otherwise(), scope.inner(), out);
    }

    /** Returns the items of a loop that pass its filter. */
    private List<Value> items(Statement.For loop, Scope scope) {
        List<Value> all = Operators.iterate(evaluator.evaluate(loop.items(), scope));
        budget.spend(all.size());
        if (loop.filter().isEmpty()) {
            return all;
        }
        List<Value> taken = new ArrayList<>();
        for (Value item : all) {
            Scope own = scope.inner();
            assign(loop.target(), item, own);
            if (evaluator.holds(loop.filter().get(), own)) {
                taken.add(item);
            }
        }
        return taken;
    }

    private void assign(Target target, Value value, Scope scope) {
        switch (target) {
            case Target.Name(String name) -> scope.set(name, value);
            case Target.Field(String name, String field) -> {
                if (!(scope.get(name) instanceof Namespace(Map<String, Value> fields))) {
                    throw new TemplateError(name + " is not a namespace, so its field " + field + " cannot be set");
                }
                fields.put(field, value);
            }
            case Target.Several(List<Target> targets) -> {
                List<Value> values = Operators.iterate(value);
                if (values.size() != targets.size()) {
                    throw new TemplateError(
                            values.size() + " values cannot be assigned to " + targets.size() + " names");
                }
                for (int i = 0; i < values.size(); i++) {
                    assign(targets.get(i), values.get(i), scope);
                }
            }
        }
    }

    private Function macro(Statement.Macro macro, Scope around) {
        return new Function(macro.name(), given -> {
            int callersLine = line;
            List<Optional<Value>> bound = given.bind(
                    macro.parameters().stream().map(Parameter::name).toArray(String[]::new));
            Scope scope = around.inner();
            // Empty, because calls with more arguments than parameters are rejected.
            scope.set("varargs", Value.Items.tuple());
            scope.set("kwargs", new Value.Dict(Map.of()));
            for (int i = 0; i < bound.size(); i++) {
                Parameter parameter = macro.parameters().get(i);
                Value value = bound.get(i)
                        .or(() -> parameter.absent().map(absent -> evaluator.evaluate(absent, scope)))
                        .orElse(new Undefined(parameter.name()));
                scope.set(parameter.name(), value);
            }
            StringBuilder out = new StringBuilder();
            Flow unused = body(macro.body(), scope, out);
            line = callersLine;
            return new Text(out.toString());
        });
    }
}
