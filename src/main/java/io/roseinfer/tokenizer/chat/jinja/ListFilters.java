package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Filters.Filter;
import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Generator;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.None;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import io.roseinfer.tokenizer.chat.jinja.Value.Undefined;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The filters of lists and dicts. */
final class ListFilters {
    private static final Map<String, Filter> FILTERS = Map.ofEntries(
            Map.entry("dictsort", ListFilters::dictSort),
            Map.entry("first", (value, given, budget) -> end(value, given, false)),
            Map.entry("items", (value, given, budget) -> items(value, given)),
            Map.entry("join", ListFilters::join),
            Map.entry("last", (value, given, budget) -> end(value, given, true)),
            Map.entry("list", (value, given, budget) -> list(value, given, budget)),
            Map.entry("map", ListFilters::map),
            Map.entry("max", (value, given, budget) -> extreme(value, given, budget, -1)),
            Map.entry("min", (value, given, budget) -> extreme(value, given, budget, 1)),
            Map.entry("reject", (value, given, budget) -> select(value, given, budget, false, false)),
            Map.entry("rejectattr", (value, given, budget) -> select(value, given, budget, true, false)),
            Map.entry("reverse", (value, given, budget) -> reverse(value, given)),
            Map.entry("select", (value, given, budget) -> select(value, given, budget, false, true)),
            Map.entry("selectattr", (value, given, budget) -> select(value, given, budget, true, true)),
            Map.entry("sort", ListFilters::sort),
            Map.entry("sum", ListFilters::sum),
            Map.entry("unique", ListFilters::unique));

    private ListFilters() {}

    static boolean isKnown(String name) {
        return FILTERS.containsKey(name);
    }

    static Value apply(String name, Value value, Given given, Budget budget) {
        return Optional.ofNullable(FILTERS.get(name))
                .orElseThrow(() -> new TemplateError("the filter \"" + name + "\" is not supported"))
                .apply(value, given, budget);
    }

    private static Generator generator(List<Value> values) {
        return new Generator(values.iterator());
    }

    private static boolean flag(Optional<Value> value) {
        return value.map(Operators::truth).orElse(false);
    }

    /** Returns a function that maps an item to its key: itself, or an attribute path separated by dots. */
    private static UnaryOperator<Value> getter(Optional<Value> attribute, boolean caseSensitive, Budget budget) {
        return item -> {
            Value value = attribute
                    .filter(name -> !(name instanceof None))
                    .map(name -> lookUp(item, name, Optional.empty(), budget))
                    .orElse(item);
            return value instanceof Text(String text) && !caseSensitive ? new Text(PythonText.lower(text)) : value;
        };
    }

    private static Value lookUp(Value item, Value attribute, Optional<Value> absent, Budget budget) {
        if (!(attribute instanceof Text(String path))) {
            return orAbsent(Operators.item(item, attribute, budget), absent);
        }
        Value value = item;
        for (String part : path.split("\\.", -1)) {
            Value key = part.matches("\\d{1,9}") ? new Int(Integer.parseInt(part)) : new Text(part);
            value = orAbsent(Operators.item(value, key, budget), absent);
        }
        return value;
    }

    private static Value orAbsent(Value value, Optional<Value> absent) {
        return value instanceof Undefined ? absent.orElse(value) : value;
    }

    private static Value dictSort(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("case_sensitive", "by", "reverse");
        if (!(value instanceof Dict dict)) {
            throw new TemplateError("the value of dictsort is " + Operators.typeName(value) + "; it must be a dict");
        }
        int place = bound.get(1).map(PythonText::str).orElse("key").equals("value") ? 1 : 0;
        return sorted(
                Methods.pairs(dict),
                getter(Optional.of(new Int(place)), flag(bound.get(0)), budget),
                flag(bound.get(2)),
                budget);
    }

    private static Value sort(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("reverse", "case_sensitive", "attribute");
        return sorted(
                Operators.iterate(value),
                getter(bound.get(2), flag(bound.get(1)), budget),
                flag(bound.get(0)),
                budget);
    }

    private static Value sorted(List<Value> values, UnaryOperator<Value> key, boolean reverse, Budget budget) {
        budget.spend(16L * values.size());
        Comparator<Value> order = (a, b) -> Operators.order(key.apply(a), key.apply(b));
        List<Value> sorted = new ArrayList<>(values);
        sorted.sort(reverse ? order.reversed() : order);
        return Items.list(sorted);
    }

    private static Value end(Value value, Given given, boolean last) {
        given.none();
        if (last && value instanceof Generator) {
            throw new TemplateError("a generator has no last item; convert it to a list");
        }
        List<Value> values = Operators.iterate(value);
        if (values.isEmpty()) {
            return new Undefined("the " + (last ? "last" : "first") + " item of an empty sequence");
        }
        return last ? values.getLast() : values.getFirst();
    }

    private static Value items(Value value, Given given) {
        given.none();
        return switch (value) {
            case Undefined ignored -> generator(List.of());
            case Dict dict -> generator(Methods.pairs(dict));
            default -> throw new TemplateError("the value of items is " + Operators.typeName(value) + "; it must be a dict");
        };
    }

    private static Value join(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("d", "attribute");
        List<String> parts = Operators.iterate(value).stream()
                .map(item -> bound.get(1)
                        .filter(name -> !(name instanceof None))
                        .map(name -> lookUp(item, name, Optional.empty(), budget))
                        .orElse(item))
                .map(PythonText::str)
                .toList();
        return new Text(TextParts.join(bound.get(0).map(PythonText::str).orElse(""), parts, budget));
    }

    private static Value list(Value value, Given given, Budget budget) {
        given.none();
        List<Value> values = Operators.iterate(value);
        budget.spend(values.size());
        return Items.list(values);
    }

    private static Value map(Value value, Given given, Budget budget) {
        List<Value> mapped = new ArrayList<>();
        Value attribute = given.named().get("attribute");
        if (given.positional().isEmpty() && attribute != null) {
            Optional<Value> absent = given.bind("attribute", "default").get(1).filter(v -> !(v instanceof None));
            Operators.iterate(value).forEach(item -> mapped.add(lookUp(item, attribute, absent, budget)));
            return generator(mapped);
        }
        if (given.positional().isEmpty()) {
            throw new TemplateError("map needs a filter or an attribute");
        }
        String name = Methods.text(given.positional().getFirst(), "the filter of map");
        Given rest = rest(name, given, 1);
        Operators.iterate(value).forEach(item -> mapped.add(Filters.apply(name, item, rest, budget)));
        budget.spend(mapped.size());
        return generator(mapped);
    }

    private static Given rest(String name, Given given, int from) {
        return new Given(name, given.positional().subList(from, given.positional().size()), given.named());
    }

    private static Value select(Value value, Given given, Budget budget, boolean byAttribute, boolean wanted) {
        List<Value> arguments = given.positional();
        int used = byAttribute ? 1 : 0;
        if (arguments.size() < used) {
            throw new TemplateError(given.callee() + " needs an attribute");
        }
        List<Value> selected = new ArrayList<>();
        for (Value item : Operators.iterate(value)) {
            budget.spend(1);
            Value seen = byAttribute ? lookUp(item, arguments.getFirst(), Optional.empty(), budget) : item;
            boolean holds;
            if (arguments.size() > used) {
                String test = Methods.text(arguments.get(used), "the test of " + given.callee());
                holds = ValueTests.holds(test, seen, rest(test, given, used + 1));
            } else {
                holds = Operators.truth(seen);
            }
            if (holds == wanted) {
                selected.add(item);
            }
        }
        return generator(selected);
    }

    private static Value reverse(Value value, Given given) {
        given.none();
        List<Value> reversed = new ArrayList<>(Operators.iterate(value)).reversed();
        if (value instanceof Text) {
            StringBuilder text = new StringBuilder();
            reversed.forEach(character -> text.append(PythonText.str(character)));
            return new Text(text.toString());
        }
        return generator(reversed);
    }

    private static Value sum(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("attribute", "start");
        Value sum = bound.get(1).orElse(new Int(0));
        for (Value item : Operators.iterate(value)) {
            Value term = bound.get(0)
                    .filter(name -> !(name instanceof None))
                    .map(name -> lookUp(item, name, Optional.empty(), budget))
                    .orElse(item);
            if (term instanceof Text || sum instanceof Text) {
                throw new TemplateError("sum does not add strings; use join");
            }
            sum = Operators.arithmetic("+", sum, term, budget);
        }
        return sum;
    }

    private static Value unique(Value value, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("case_sensitive", "attribute");
        UnaryOperator<Value> key = getter(bound.get(1), flag(bound.get(0)), budget);
        Map<Value, Value> seen = new LinkedHashMap<>();
        Operators.iterate(value).forEach(item -> seen.putIfAbsent(key.apply(item), item));
        budget.spend(seen.size());
        return generator(List.copyOf(seen.values()));
    }

    /** Returns the smallest or the largest item; of equal ones the first. */
    private static Value extreme(Value value, Given given, Budget budget, int sign) {
        List<Optional<Value>> bound = given.bind("case_sensitive", "attribute");
        UnaryOperator<Value> key = getter(bound.get(1), flag(bound.get(0)), budget);
        List<Value> values = Operators.iterate(value);
        if (values.isEmpty()) {
            return new Undefined(given.callee() + " of an empty sequence");
        }
        Value best = values.getFirst();
        for (Value item : values) {
            if (sign * Operators.order(key.apply(item), key.apply(best)) < 0) {
                best = item;
            }
        }
        return best;
    }
}
