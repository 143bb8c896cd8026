package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.LargeInt;
import io.roseinfer.tokenizer.chat.jinja.Value.None;
import io.roseinfer.tokenizer.chat.jinja.Value.Real;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Converts JSON to values, and back like Python's {@code json.dumps}. */
final class PythonJson {
    private final StringBuilder out = new StringBuilder();

    /** The length of the paid-for text. */
    private int paid;

    private final Budget budget;
    private final boolean onlyAscii;
    private final boolean sorted;
    private final Optional<String> indent;
    private final String itemSeparator;
    private final String keySeparator;

    private PythonJson(Budget budget, List<Optional<Value>> options) {
        this.budget = budget;
        onlyAscii = options.get(0).map(Operators::truth).orElse(false);
        indent = options.get(1).filter(value -> !(value instanceof None)).map(PythonJson::indentation);
        Optional<Value> separators = options.get(2).filter(value -> !(value instanceof None));
        if (separators.isPresent()) {
            List<Value> both = Operators.iterate(separators.get());
            if (both.size() != 2) {
                throw new TemplateError("the separators of tojson have " + both.size() + " values; they must have two");
            }
            itemSeparator = Methods.text(both.get(0), "a separator of tojson");
            keySeparator = Methods.text(both.get(1), "a separator of tojson");
        } else {
            itemSeparator = indent.isPresent() ? "," : ", ";
            keySeparator = ": ";
        }
        sorted = options.get(3).map(Operators::truth).orElse(false);
    }

    private static String indentation(Value value) {
        return value instanceof Text(String text) ? text : " ".repeat(Math.clamp(Numbers.bounded(value, "indent"), 0, 64));
    }

    /** Converts a JSON value. */
    static Value read(JsonNode node) {
        return switch (node.getNodeType()) {
            case STRING -> new Text(node.stringValue());
            case BOOLEAN -> Bool.of(node.booleanValue());
            case NUMBER -> {
                if (!node.isIntegralNumber()) {
                    yield new Real(node.doubleValue());
                }
                yield node.canConvertToLong() ? new Int(node.longValue()) : new LargeInt(node.bigIntegerValue());
            }
            case ARRAY -> {
                List<Value> values = new ArrayList<>();
                node.forEach(element -> values.add(read(element)));
                yield Items.list(values);
            }
            case OBJECT -> {
                Map<Value, Value> entries = new LinkedHashMap<>();
                node.properties().forEach(entry -> entries.put(new Text(entry.getKey()), read(entry.getValue())));
                yield new Dict(entries);
            }
            default -> None.NONE;
        };
    }

    /**
     * Evaluates the filter {@code tojson} like transformers: HTML is not escaped, nor, by default, are non-ASCII
     * characters.
     */
    static Value filter(Value value, Given given, Budget budget) {
        PythonJson json = new PythonJson(budget, given.bind("ensure_ascii", "indent", "separators", "sort_keys"));
        json.write(value, 1);
        json.pay();
        return new Text(json.out.toString());
    }

    private void pay() {
        budget.append(paid, out.length() - paid);
        paid = out.length();
    }

    private void write(Value value, int level) {
        pay();
        switch (value) {
            case Text(String text) -> string(text);
            case Int(long number) -> out.append(number);
            case LargeInt(BigInteger number) -> out.append(number);
            case Real(double number) -> out.append(real(number));
            case Bool(boolean truth) -> out.append(truth);
            case None ignored -> out.append("null");
            case Items(var values, Items.Kind kind) when kind == Items.Kind.LIST || kind == Items.Kind.TUPLE -> {
                out.append('[');
                for (int i = 0; i < values.size(); i++) {
                    begin(i, level);
                    write(values.get(i), level + 1);
                }
                end(']', values.isEmpty(), level);
            }
            case Dict dict -> object(dict, level);
            default -> throw new TemplateError(Operators.typeName(value) + " cannot be converted to JSON");
        }
    }

    private void object(Dict dict, int level) {
        List<Map.Entry<Value, Value>> entries = new ArrayList<>(dict.entries().entrySet());
        if (sorted) {
            entries.sort((a, b) -> Operators.order(a.getKey(), b.getKey()));
        }
        out.append('{');
        for (int i = 0; i < entries.size(); i++) {
            begin(i, level);
            string(key(entries.get(i).getKey()));
            out.append(keySeparator);
            write(entries.get(i).getValue(), level + 1);
        }
        end('}', entries.isEmpty(), level);
    }

    private static String key(Value key) {
        return switch (key) {
            case Text(String text) -> text;
            case Int(long number) -> Long.toString(number);
            case LargeInt(BigInteger number) -> number.toString();
            case Real(double number) -> real(number);
            case Bool(boolean truth) -> Boolean.toString(truth);
            case None ignored -> "null";
            default -> throw new TemplateError(Operators.typeName(key) + " cannot be a JSON key");
        };
    }

    private static String real(double number) {
        if (Double.isNaN(number)) {
            return "NaN";
        }
        return Double.isInfinite(number) ? number > 0 ? "Infinity" : "-Infinity" : Numbers.repr(number);
    }

    private void begin(int index, int level) {
        out.append(index == 0 ? "" : itemSeparator);
        newLine(level);
    }

    private void end(char bracket, boolean empty, int level) {
        if (!empty) {
            newLine(level - 1);
        }
        out.append(bracket);
    }

    private void newLine(int level) {
        indent.ifPresent(by -> out.append('\n').repeat(by, level));
    }

    private void string(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\f' -> out.append("\\f");
                case '\b' -> out.append("\\b");
                default -> {
                    if (c < ' ' || (onlyAscii && c > '~')) {
                        out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }
}
