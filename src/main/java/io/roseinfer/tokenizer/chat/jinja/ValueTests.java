package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Function;
import io.roseinfer.tokenizer.chat.jinja.Value.Generator;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.LargeInt;
import io.roseinfer.tokenizer.chat.jinja.Value.None;
import io.roseinfer.tokenizer.chat.jinja.Value.Real;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import io.roseinfer.tokenizer.chat.jinja.Value.Undefined;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** The tests of {@code is}. */
final class ValueTests {
    private interface ValueTest {
        boolean holds(Value value, Given given);
    }

    private static final Map<String, ValueTest> TESTS = tests();

    private ValueTests() {}

    static boolean isKnown(String name) {
        return TESTS.containsKey(name);
    }

    static boolean holds(String name, Value value, Given given) {
        ValueTest test = Optional.ofNullable(TESTS.get(name))
                .orElseThrow(() -> new TemplateError("the test \"" + name + "\" is not supported"));
        return test.holds(value, given);
    }

    private static Map<String, ValueTest> tests() {
        Map<String, ValueTest> tests = new HashMap<>();
        plain(tests, "defined", value -> !(value instanceof Undefined));
        plain(tests, "undefined", value -> value instanceof Undefined);
        plain(tests, "none", value -> value instanceof None);
        plain(tests, "boolean", value -> value instanceof Bool);
        plain(tests, "true", value -> value instanceof Bool(boolean truth) && truth);
        plain(tests, "false", value -> value instanceof Bool(boolean truth) && !truth);
        plain(tests, "integer", value -> value instanceof Int || value instanceof LargeInt);
        plain(tests, "float", value -> value instanceof Real);
        plain(tests, "number", Numbers::isNumber);
        plain(tests, "string", value -> value instanceof Text);
        plain(tests, "mapping", value -> value instanceof Dict);
        plain(tests, "sequence", ValueTests::isSequence);
        plain(tests, "iterable", value -> isSequence(value) || value instanceof Generator || value instanceof Items);
        plain(tests, "callable", value -> value instanceof Function || value instanceof Undefined);
        plain(tests, "odd", value -> Math.floorMod(Numbers.integer(value, "the value"), 2) == 1);
        plain(tests, "even", value -> Math.floorMod(Numbers.integer(value, "the value"), 2) == 0);
        plain(tests, "lower", value -> TextParts.isCased(PythonText.str(value), false));
        plain(tests, "upper", value -> TextParts.isCased(PythonText.str(value), true));
        tests.put("divisibleby", (value, given) -> {
            long by = Numbers.integer(given.one("number"), "the divisor");
            if (by == 0) {
                throw new TemplateError("division by zero");
            }
            return Numbers.integer(value, "the value") % by == 0;
        });
        tests.put("sameas", (value, given) -> isSame(value, given.one("other")));
        compare(tests, "==", "==", "eq", "equalto");
        compare(tests, "!=", "!=", "ne");
        compare(tests, "<", "<", "lt", "lessthan");
        compare(tests, "<=", "<=", "le");
        compare(tests, ">", ">", "gt", "greaterthan");
        compare(tests, ">=", ">=", "ge");
        compare(tests, "in", "in");
        return Map.copyOf(tests);
    }

    private static void plain(Map<String, ValueTest> tests, String name, Predicate<Value> holds) {
        tests.put(name, (value, given) -> {
            given.none();
            return holds.test(value);
        });
    }

    private static void compare(Map<String, ValueTest> tests, String operator, String... names) {
        for (String name : names) {
            tests.put(name, (value, given) -> Operators.compare(operator, value, given.one("other")));
        }
    }

    /** Returns whether a value has a length and indexes in Jinja, which includes dicts and undefined values. */
    private static boolean isSequence(Value value) {
        return value instanceof Text
                || value instanceof Dict
                || value instanceof Undefined
                || (value instanceof Items(var ignored, Items.Kind kind) && kind != Items.Kind.VIEW);
    }

    /** Evaluates Python's {@code is}: identity, or equality of simple values. */
    @SuppressWarnings("ReferenceEquality")
    private static boolean isSame(Value value, Value other) {
        boolean plain = value instanceof Bool || value instanceof None || value instanceof Int || value instanceof Text;
        return plain ? value.equals(other) : value == other;
    }
}
