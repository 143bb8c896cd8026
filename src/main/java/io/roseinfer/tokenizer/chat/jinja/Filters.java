package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Generator;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.LargeInt;
import io.roseinfer.tokenizer.chat.jinja.Value.None;
import io.roseinfer.tokenizer.chat.jinja.Value.Real;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import io.roseinfer.tokenizer.chat.jinja.Value.Undefined;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/** The filters of single values; {@link ListFilters} has the filters of lists. */
final class Filters {
    /** The implementation of a filter. */
    interface Filter {
        Value apply(Value value, Given given, Budget budget);
    }

    private static final Pattern WORD_BEGIN = Pattern.compile("(?<=[-\\s({\\[<])(?![-\\s({\\[<])|(?<![-\\s({\\[<])(?=[-\\s({\\[<])");

    private static final Map<String, Filter> FILTERS = Map.ofEntries(
            Map.entry("abs", (value, given, budget) -> abs(value, given)),
            Map.entry("capitalize", text(PythonText::capitalize)),
            Map.entry("count", Filters::length),
            Map.entry("d", Filters::absent),
            Map.entry("default", Filters::absent),
            Map.entry("float", Filters::toReal),
            Map.entry("format", Filters::format),
            Map.entry("indent", Filters::indent),
            Map.entry("int", Filters::toInt),
            Map.entry("length", Filters::length),
            Map.entry("lower", text(PythonText::lower)),
            Map.entry("replace", Filters::replace),
            Map.entry("round", Filters::round),
            Map.entry("safe", Filters::string),
            Map.entry("string", Filters::string),
            Map.entry("title", text(Filters::title)),
            Map.entry("tojson", PythonJson::filter),
            Map.entry("trim", Filters::trim),
            Map.entry("upper", text(PythonText::upper)));

    private Filters() {}

    static boolean isKnown(String name) {
        return FILTERS.containsKey(name) || ListFilters.isKnown(name);
    }

    static Value apply(String name, Value value, Given given, Budget budget) {
        Filter filter = FILTERS.get(name);
        return filter == null
                ? ListFilters.apply(name, value, given, budget)
                : filter.apply(value, given, budget);
    }

    private static Filter text(UnaryOperator<String> changed) {
        return (value, given, budget) -> {
            given.none();
            String text = PythonText.str(value);
            budget.text(text.length());
            return new Text(changed.apply(text));
        };
    }

    private static Value abs(Value value, Given given) {
        given.none();
        return value instanceof Real(double number)
                ? new Real(Math.abs(number))
                : new Int(Math.absExact(Numbers.integer(value, "the value of abs")));
    }

    private static Value length(Value value, Given given, Budget budget) {
        given.none();
        return new Int(Operators.length(value));
    }

    private static Value absent(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("default_value", "boolean");
        boolean orFalse = bound.get(1).map(Operators::truth).orElse(false);
        return value instanceof Undefined || (orFalse && !Operators.truth(value))
                ? bound.get(0).orElse(new Text(""))
                : value;
    }

    private static Value toReal(Value value, Given given, Budget budget) {
        Optional<Value> absent = given.bind("default").getFirst();
        requireDefined(value, "a float");
        return real(value).<Value>map(Real::new).orElse(absent.orElse(new Real(0)));
    }

    private static Optional<Double> real(Value value) {
        if (Numbers.isNumber(value)) {
            return Optional.of(Numbers.real(value));
        }
        return value instanceof Text(String text) ? Numbers.parseReal(text) : Optional.empty();
    }

    private static void requireDefined(Value value, String what) {
        if (value instanceof Undefined(String name)) {
            throw new TemplateError(name + " is undefined, so it is not " + what);
        }
    }

    private static Value toInt(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("default", "base");
        int base = bound.get(1).map(number -> Numbers.bounded(number, "base")).orElse(10);
        Value absent = bound.get(0).orElse(new Int(0));
        requireDefined(value, "an integer");
        if (Numbers.isInteger(value)) {
            return value instanceof LargeInt ? value : new Int(Numbers.integer(value, ""));
        }
        Optional<Value> whole = value instanceof Text(String text) ? Numbers.parseInteger(text, base) : Optional.empty();
        return whole.or(() -> real(value)
                        .filter(number -> !number.isNaN() && !number.isInfinite())
                        .map(number -> Numbers.of(new BigDecimal(number).toBigInteger())))
                .orElse(absent);
    }

    private static Value format(Value value, Given given, Budget budget) {
        if (!given.named().isEmpty()) {
            throw new TemplateError("the filter format does not support named values");
        }
        return Formatting.percent(
                PythonText.str(value), new Items(given.positional(), Items.Kind.TUPLE), budget);
    }

    private static Value indent(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("width", "first", "blank");
        Value width = bound.get(0).orElse(new Int(4));
        String by = width instanceof Text(String text)
                ? text
                : " ".repeat(Math.clamp(Numbers.bounded(width, "width"), 0, 1000));
        boolean first = bound.get(1).map(Operators::truth).orElse(false);
        boolean blank = bound.get(2).map(Operators::truth).orElse(false);
        return new Text(TextParts.indent(Methods.text(value, "the value of indent"), by, first, blank, budget));
    }

    private static Value replace(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("old", "new", "count");
        String old = PythonText.str(given.required(bound, 0, "what to replace"));
        String by = PythonText.str(given.required(bound, 1, "a replacement"));
        int max = bound.get(2)
                .filter(count -> !(count instanceof None))
                .map(count -> Numbers.bounded(count, "count"))
                .orElse(-1);
        return new Text(TextParts.replace(PythonText.str(value), old, by, max, budget));
    }

    private static Value round(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("precision", "method");
        int digits = bound.get(0).map(number -> Numbers.bounded(number, "precision")).orElse(0);
        String method = bound.get(1).map(PythonText::str).orElse("common");
        double scale = Math.pow(10, digits);
        return switch (method) {
            case "common" -> Numbers.round(value, digits);
            case "ceil" -> new Real(Math.ceil(Numbers.real(value) * scale) / scale);
            case "floor" -> new Real(Math.floor(Numbers.real(value) * scale) / scale);
            default -> throw new TemplateError("the method of round is " + method + "; it must be common, ceil or floor");
        };
    }

    private static Value string(Value value, Given given, Budget budget) {
        given.none();
        String text = PythonText.str(value);
        budget.text(text.length());
        return new Text(text);
    }

    /** Capitalizes every word, and lowercases the rest of it; separators are kept. */
    private static String title(String text) {
        StringBuilder out = new StringBuilder();
        for (String part : WORD_BEGIN.split(text)) {
            out.append(PythonText.upper(part.isEmpty() ? "" : first(part)));
            out.append(PythonText.lower(part.isEmpty() ? "" : part.substring(first(part).length())));
        }
        return out.toString();
    }

    private static String first(String text) {
        return Character.toString(text.codePointAt(0));
    }

    private static Value trim(Value value, Given given, Budget budget) {
        Optional<Value> characters = given.bind("chars").getFirst();
        String text = PythonText.str(value);
        budget.text(text.length());
        return new Text(PythonText.strip(text, Methods.stripped(characters), true, true));
    }
}
