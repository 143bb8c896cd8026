package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Function;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.Loop;
import io.roseinfer.tokenizer.chat.jinja.Value.Namespace;
import io.roseinfer.tokenizer.chat.jinja.Value.None;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;

/**
 * The methods and fields of values: those of Python's {@code str}, {@code dict} and {@code list} that do not modify
 * them.
 */
final class Methods {
    private interface TextMethod {
        Value call(String self, Given given, Budget budget);
    }

    private static final Map<String, TextMethod> TEXT = Map.ofEntries(
            Map.entry("strip", (self, given, budget) -> strip(self, given, true, true)),
            Map.entry("lstrip", (self, given, budget) -> strip(self, given, true, false)),
            Map.entry("rstrip", (self, given, budget) -> strip(self, given, false, true)),
            Map.entry("split", (self, given, budget) -> TextParts.split(self, given, false, budget)),
            Map.entry("rsplit", (self, given, budget) -> TextParts.split(self, given, true, budget)),
            Map.entry("splitlines", (self, given, budget) -> TextParts.splitLines(self, given, budget)),
            Map.entry("partition", (self, given, budget) -> TextParts.partition(self, given, false)),
            Map.entry("rpartition", (self, given, budget) -> TextParts.partition(self, given, true)),
            Map.entry("startswith", (self, given, budget) -> affix(self, given, String::startsWith)),
            Map.entry("endswith", (self, given, budget) -> affix(self, given, String::endsWith)),
            Map.entry("upper", (self, given, budget) -> plain(self, given, budget, PythonText::upper)),
            Map.entry("lower", (self, given, budget) -> plain(self, given, budget, PythonText::lower)),
            Map.entry("title", (self, given, budget) -> plain(self, given, budget, TextParts::title)),
            Map.entry("capitalize", (self, given, budget) -> plain(self, given, budget, PythonText::capitalize)),
            Map.entry("replace", Methods::replace),
            Map.entry("join", (self, given, budget) -> TextParts.join(self, given.one("items"), budget)),
            Map.entry("find", (self, given, budget) -> find(self, given, String::indexOf, false)),
            Map.entry("rfind", (self, given, budget) -> find(self, given, String::lastIndexOf, false)),
            Map.entry("index", (self, given, budget) -> find(self, given, String::indexOf, true)),
            Map.entry("rindex", (self, given, budget) -> find(self, given, String::lastIndexOf, true)),
            Map.entry("count", (self, given, budget) -> count(self, part(given))),
            Map.entry("removeprefix", (self, given, budget) -> without(self, part(given), true)),
            Map.entry("removesuffix", (self, given, budget) -> without(self, part(given), false)),
            Map.entry("isspace", (self, given, budget) -> all(self, given, PythonText::isSpace)),
            Map.entry("isdigit", (self, given, budget) -> all(self, given, Character::isDigit)),
            Map.entry("isalpha", (self, given, budget) -> all(self, given, Character::isLetter)),
            Map.entry("isalnum", (self, given, budget) -> all(self, given, Character::isLetterOrDigit)),
            Map.entry("islower", (self, given, budget) -> Bool.of(TextParts.isCased(self, false))),
            Map.entry("isupper", (self, given, budget) -> Bool.of(TextParts.isCased(self, true))),
            Map.entry("format", Formatting::braces));

    private static final Set<String> OF_DICTS = Set.of("items", "keys", "values", "get", "copy");
    private static final Set<String> OF_LISTS = Set.of("index", "count");
    private static final Set<String> OF_LOOPS = Set.of("cycle", "changed");

    /** Methods that would modify a value, which Jinja's sandbox forbids, too. */
    private static final Set<String> CHANGING_DICTS = Set.of("update", "pop", "popitem", "clear", "setdefault");

    private static final Set<String> CHANGING_LISTS =
            Set.of("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse");

    private Methods() {}

    /** Returns whether any value has a method with this name. */
    static boolean isKnown(String name) {
        return TEXT.containsKey(name)
                || OF_DICTS.contains(name)
                || OF_LISTS.contains(name)
                || OF_LOOPS.contains(name);
    }

    /** Returns a method or a field of a value; a dict's entries are not included. */
    static Optional<Value> member(Value object, String name, Budget budget) {
        return switch (object) {
            case Text(String self) ->
                Optional.ofNullable(TEXT.get(name))
                        .map(method -> new Function(name, given -> method.call(self, given, budget)));
            case Dict dict -> {
                requireUnchanging(name, CHANGING_DICTS);
                yield OF_DICTS.contains(name)
                        ? Optional.of(new Function(name, given -> ofDict(dict, name, given)))
                        : Optional.empty();
            }
            case Items list when list.kind() != Items.Kind.VIEW -> {
                requireUnchanging(name, CHANGING_LISTS);
                yield OF_LISTS.contains(name)
                        ? Optional.of(new Function(name, given -> ofList(list.values(), name, given)))
                        : Optional.empty();
            }
            case Namespace(Map<String, Value> fields) -> Optional.ofNullable(fields.get(name));
            case Loop loop -> Optional.of(loop.attribute(name));
            default -> Optional.empty();
        };
    }

    private static void requireUnchanging(String name, Set<String> changing) {
        if (changing.contains(name)) {
            throw new TemplateError("\"" + name + "\" would modify a value; only a namespace can be modified");
        }
    }

    private static Value ofDict(Dict dict, String name, Given given) {
        Map<Value, Value> entries = dict.entries();
        if (name.equals("get")) {
            List<Optional<Value>> bound = given.bind("key", "default");
            Value value = entries.get(given.required(bound, 0, "a key"));
            return value == null ? bound.get(1).orElse(None.NONE) : value;
        }
        given.none();
        return switch (name) {
            case "keys" -> new Items(List.copyOf(entries.keySet()), Items.Kind.VIEW);
            case "values" -> new Items(List.copyOf(entries.values()), Items.Kind.VIEW);
            case "copy" -> dict;
            default -> new Items(pairs(dict), Items.Kind.VIEW);
        };
    }

    /** Returns a dict's entries as tuples. */
    static List<Value> pairs(Dict dict) {
        List<Value> pairs = new ArrayList<>();
        dict.entries().forEach((key, value) -> pairs.add(Items.tuple(key, value)));
        return pairs;
    }

    private static Value ofList(List<Value> values, String name, Given given) {
        Value wanted = given.one("value");
        int count = 0;
        for (int i = 0; i < values.size(); i++) {
            if (Operators.equal(values.get(i), wanted)) {
                if (name.equals("index")) {
                    return new Int(i);
                }
                count++;
            }
        }
        if (name.equals("index")) {
            throw new TemplateError("index: the list does not have the value");
        }
        return new Int(count);
    }

    private static Value strip(String self, Given given, boolean begin, boolean end) {
        Optional<Value> characters = given.bind("characters").getFirst();
        return new Text(PythonText.strip(self, stripped(characters), begin, end));
    }

    /** Returns the characters that {@code strip} and {@code trim} remove: whitespace by default. */
    static IntPredicate stripped(Optional<Value> characters) {
        if (characters.isEmpty() || characters.get() instanceof None) {
            return PythonText::isSpace;
        }
        String set = text(characters.get(), "the characters to strip");
        return point -> set.indexOf(point) >= 0;
    }

    static String text(Value value, String what) {
        if (value instanceof Text(String text)) {
            return text;
        }
        throw new TemplateError(what + " is " + Operators.typeName(value) + "; it must be a string");
    }

    private static String part(Given given) {
        return text(given.one("part"), "the substring");
    }

    private static Value plain(String self, Given given, Budget budget, UnaryOperator<String> changed) {
        given.none();
        budget.spend(self.length());
        return new Text(changed.apply(self));
    }

    private static Value affix(String self, Given given, BiPredicate<String, String> has) {
        List<Optional<Value>> bound = given.bind("affix", "start", "end");
        Value affixes = given.required(bound, 0, "an affix");
        Optional<Range> range = Range.of(self, bound);
        if (range.isEmpty()) {
            return Bool.FALSE;
        }
        String part = range.get().of(self);
        if (affixes instanceof Items(var several, Items.Kind kind) && kind == Items.Kind.TUPLE) {
            return Bool.of(several.stream().anyMatch(affix -> has.test(part, text(affix, "an affix"))));
        }
        return Bool.of(has.test(part, text(affixes, "the affix")));
    }

    /**
     * The part of a string that a method searches.
     *
     * @param from an index of UTF-16
     */
    private record Range(int from, int to) {
        /**
         * Returns the part between the second and the third argument, in code points; empty if it begins after the
         * string.
         */
        static Optional<Range> of(String self, List<Optional<Value>> bound) {
            if (bound.get(1).isEmpty() && bound.get(2).isEmpty()) {
                return Optional.of(new Range(0, self.length()));
            }
            int length = self.codePointCount(0, self.length());
            int from = place(bound.get(1), 0, length);
            int to = Math.min(place(bound.get(2), length, length), length);
            return from > to
                    ? Optional.empty()
                    : Optional.of(new Range(self.offsetByCodePoints(0, from), self.offsetByCodePoints(0, to)));
        }

        private static int place(Optional<Value> bound, int absent, int length) {
            long place = bound.filter(value -> !(value instanceof None))
                    .map(value -> Numbers.bounded(value, "an index of a string"))
                    .orElse(absent);
            return (int) Math.max(0, place < 0 ? place + length : place);
        }

        String of(String self) {
            return self.substring(from, to);
        }
    }

    private static Value replace(String self, Given given, Budget budget) {
        List<Optional<Value>> bound = given.bind("old", "new", "count");
        String old = text(given.required(bound, 0, "what to replace"), "what to replace");
        String by = text(given.required(bound, 1, "a replacement"), "the replacement");
        int max = bound.get(2).map(count -> Numbers.bounded(count, "count")).orElse(-1);
        return new Text(TextParts.replace(self, old, by, max, budget));
    }

    /**
     * Evaluates {@code find} and {@code rfind}, or {@code index} and {@code rindex}, which fail if nothing is found.
     */
    private static Value find(String self, Given given, BiFunction<String, String, Integer> indexOf, boolean must) {
        List<Optional<Value>> bound = given.bind("part", "start", "end");
        String part = text(given.required(bound, 0, "a part"), "the substring");
        int index = Range.of(self, bound)
                .map(range -> {
                    int found = indexOf.apply(range.of(self), part);
                    return found < 0 ? -1 : self.codePointCount(0, range.from + found);
                })
                .orElse(-1);
        if (must && index < 0) {
            throw new TemplateError("index: the string does not have the substring");
        }
        return new Int(index);
    }

    private static Value count(String self, String part) {
        if (part.isEmpty()) {
            return new Int(self.codePointCount(0, self.length()) + 1L);
        }
        int count = 0;
        for (int at = self.indexOf(part); at >= 0; at = self.indexOf(part, at + part.length())) {
            count++;
        }
        return new Int(count);
    }

    private static Value without(String self, String affix, boolean front) {
        boolean has = front ? self.startsWith(affix) : self.endsWith(affix);
        if (!has) {
            return new Text(self);
        }
        return new Text(front ? self.substring(affix.length()) : self.substring(0, self.length() - affix.length()));
    }

    private static Value all(String self, Given given, IntPredicate is) {
        given.none();
        return Bool.of(!self.isEmpty() && self.codePoints().allMatch(is));
    }
}
