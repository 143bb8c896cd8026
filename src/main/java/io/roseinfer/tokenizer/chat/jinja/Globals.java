package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Function;
import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.Namespace;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/** The global functions of templates. */
final class Globals {
    /** Functions of Jinja that are not supported. */
    static final Set<String> UNSUPPORTED = Set.of("lipsum", "cycler", "joiner", "super", "self", "caller");

    /** The limit of Jinja's sandbox. */
    private static final int MAX_RANGE = 100_000;

    /** Thrown by a template that rejects its conversation. */
    static final class Raised extends RuntimeException {
        Raised(String message) {
            super(message, null, false, false);
        }

        String message() {
            return String.valueOf(getMessage());
        }
    }

    private Globals() {}

    /** Defines the functions in a scope. */
    static void define(Scope scope, UnaryOperator<String> strftime) {
        define(scope, "range", Globals::range);
        define(scope, "namespace", given -> new Namespace(fields(given)));
        define(scope, "dict", given -> {
            Map<Value, Value> entries = new LinkedHashMap<>();
            fields(given).forEach((name, value) -> entries.put(new Text(name), value));
            return new Dict(entries);
        });
        define(scope, "raise_exception", given -> {
            throw new Raised(PythonText.str(given.one("message")));
        });
        define(
                scope,
                "strftime_now",
                given -> new Text(strftime.apply(Methods.text(given.one("format"), "the format"))));
    }

    private static void define(Scope scope, String name, Function.Body body) {
        scope.set(name, new Function(name, body));
    }

    private static Value range(Given given) {
        List<Optional<Value>> bound = given.bind("start", "stop", "step");
        long first = Numbers.integer(given.required(bound, 0, "a bound"), "the bound of range");
        long start = bound.get(1).isPresent() ? first : 0;
        long stop = bound.get(1)
                .map(value -> Numbers.integer(value, "the bound of range"))
                .orElse(first);
        long step = bound.get(2)
                .map(value -> Numbers.integer(value, "the step of range"))
                .orElse(1L);
        if (step == 0) {
            throw new TemplateError("the step of range is 0");
        }
        List<Value> values = new ArrayList<>();
        for (long i = start; step > 0 ? i < stop : i > stop; i = Math.addExact(i, step)) {
            if (values.size() == MAX_RANGE) {
                throw new TemplateError("range has more than " + MAX_RANGE + " numbers");
            }
            values.add(new Int(i));
        }
        return new Items(values, Items.Kind.RANGE);
    }

    /**
     * Returns the fields of a new namespace or dict: those of a dict or a list of pairs, and then the named arguments.
     */
    private static Map<String, Value> fields(Given given) {
        Map<String, Value> fields = new LinkedHashMap<>();
        if (given.positional().size() > 1) {
            throw new TemplateError(given.callee() + " takes at most 1 argument, not "
                    + given.positional().size());
        }
        for (Value source : given.positional()) {
            for (Value pair : source instanceof Dict dict ? Methods.pairs(dict) : Operators.iterate(source)) {
                List<Value> both = Operators.iterate(pair);
                if (both.size() != 2) {
                    throw new TemplateError(given.callee() + " needs pairs");
                }
                fields.put(Methods.text(both.get(0), "a field's name"), both.get(1));
            }
        }
        fields.putAll(given.named());
        return fields;
    }
}
