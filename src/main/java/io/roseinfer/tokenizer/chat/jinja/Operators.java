package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Dict;
import io.roseinfer.tokenizer.chat.jinja.Value.Function;
import io.roseinfer.tokenizer.chat.jinja.Value.Generator;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.LargeInt;
import io.roseinfer.tokenizer.chat.jinja.Value.Loop;
import io.roseinfer.tokenizer.chat.jinja.Value.Namespace;
import io.roseinfer.tokenizer.chat.jinja.Value.None;
import io.roseinfer.tokenizer.chat.jinja.Value.Real;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import io.roseinfer.tokenizer.chat.jinja.Value.Undefined;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PrimitiveIterator;
import java.util.stream.LongStream;

/** Python's operators on values. An unsupported operation is a {@link TemplateError}. */
final class Operators {
    private Operators() {}

    /** Evaluates {@code bool(value)}. */
    static boolean truth(Value value) {
        return switch (value) {
            case Text(String text) -> !text.isEmpty();
            case Int(long number) -> number != 0;
            case LargeInt ignored -> true;
            case Real(double number) -> number != 0;
            case Bool(boolean truth) -> truth;
            case None ignored -> false;
            case Undefined ignored -> false;
            case Items(var values, var ignored) -> !values.isEmpty();
            case Dict(var entries) -> !entries.isEmpty();
            default -> true;
        };
    }

    static boolean isZero(Value value) {
        return Numbers.isNumber(value) && Numbers.real(value) == 0;
    }

    static String typeName(Value value) {
        return switch (value) {
            case Text ignored -> "a string";
            case Int ignored -> "an integer";
            case LargeInt ignored -> "an integer beyond 64 bits";
            case Real ignored -> "a float";
            case Bool ignored -> "a boolean";
            case None ignored -> "none";
            case Undefined(String name) -> "undefined (" + name + ")";
            case Items(var ignored, Items.Kind kind) -> kind == Items.Kind.TUPLE ? "a tuple" : "a list";
            case Dict ignored -> "a dict";
            case Generator ignored -> "a generator";
            case Namespace ignored -> "a namespace";
            case Function(String name, var ignored) -> "the function " + name;
            case Loop ignored -> "loop";
        };
    }

    /** Evaluates Python's {@code ==}; values that do not define it are only equal to themselves. */
    @SuppressWarnings("ReferenceEquality")
    static boolean equal(Value left, Value right) {
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            return (Numbers.isInteger(left) && Numbers.isInteger(right))
                    ? Numbers.compareIntegers(left, right) == 0
                    : (Numbers.real(left) == Numbers.real(right));
        }
        return switch (left) {
            case Items(var values, Items.Kind kind) ->
                right instanceof Items(var others, Items.Kind otherKind)
                        && kind == otherKind
                        && values.size() == others.size()
                        && allEqual(values, others);
            case Dict(var entries) -> right instanceof Dict(var others) && equalEntries(entries, others);
            case Undefined ignored -> right instanceof Undefined;
            case Text ignored -> left.equals(right);
            default -> left == right;
        };
    }

    private static boolean allEqual(List<Value> left, List<Value> right) {
        for (int i = 0; i < left.size(); i++) {
            if (!equal(left.get(i), right.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean equalEntries(Map<Value, Value> left, Map<Value, Value> right) {
        return left.size() == right.size()
                && left.entrySet().stream()
                        .allMatch(entry -> Optional.ofNullable(right.get(entry.getKey()))
                                .filter(other -> equal(entry.getValue(), other))
                                .isPresent());
    }

    static boolean compare(String operator, Value left, Value right) {
        return switch (operator) {
            case "==" -> equal(left, right);
            case "!=" -> !equal(left, right);
            case "in" -> contains(right, left);
            case "not in" -> !contains(right, left);
            case "<" -> order(left, right) < 0;
            case "<=" -> order(left, right) <= 0;
            case ">" -> order(left, right) > 0;
            default -> order(left, right) >= 0;
        };
    }

    /** Returns a negative number if the first is smaller, a positive one if it is larger. */
    static int order(Value left, Value right) {
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            return Numbers.isInteger(left) && Numbers.isInteger(right)
                    ? Numbers.compareIntegers(left, right)
                    : Double.compare(Numbers.real(left), Numbers.real(right));
        }
        if (left instanceof Text(String a) && right instanceof Text(String b)) {
            return compareCodePoints(a, b);
        }
        if (left instanceof Items(var a, Items.Kind kind) && right instanceof Items(var b, var otherKind) && kind == otherKind) {
            for (int i = 0; i < Math.min(a.size(), b.size()); i++) {
                if (!equal(a.get(i), b.get(i))) {
                    return order(a.get(i), b.get(i));
                }
            }
            return Integer.compare(a.size(), b.size());
        }
        throw new TemplateError(typeName(left) + " and " + typeName(right) + " cannot be compared");
    }

    /** Compares by code points; UTF-16 would order characters beyond U+FFFF before U+E000. */
    private static int compareCodePoints(String a, String b) {
        int mismatch = java.util.Arrays.mismatch(a.toCharArray(), b.toCharArray());
        if (mismatch < 0 || mismatch >= Math.min(a.length(), b.length())) {
            return Integer.compare(a.length(), b.length());
        }
        return Integer.compare(pointAt(a, mismatch), pointAt(b, mismatch));
    }

    private static int pointAt(String text, int index) {
        boolean second = index > 0 && Character.isSurrogatePair(text.charAt(index - 1), text.charAt(index));
        return text.codePointAt(second ? index - 1 : index);
    }

    static boolean contains(Value container, Value item) {
        if (container instanceof Text(String text)) {
            if (item instanceof Text(String part)) {
                return text.contains(part);
            }
            throw new TemplateError("\"in\" cannot search a string for " + typeName(item) + "; it must be a string");
        }
        if (container instanceof Dict(var entries)) {
            return entries.containsKey(item);
        }
        for (Value value : iterate(container)) {
            if (equal(value, item)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the items of a loop over a value: characters, items or keys; none for an undefined value. */
    static List<Value> iterate(Value value) {
        return switch (value) {
            case Text(String text) ->
                text.codePoints()
                        .<Value>mapToObj(point -> new Text(Character.toString(point)))
                        .toList();
            case Items(var values, var ignored) -> values;
            case Dict(var entries) -> List.copyOf(entries.keySet());
            case Generator(Iterator<Value> values) -> {
                List<Value> rest = new ArrayList<>();
                values.forEachRemaining(rest::add);
                yield rest;
            }
            case Undefined ignored -> List.of();
            default -> throw new TemplateError(typeName(value) + " is not iterable");
        };
    }

    /** Evaluates {@code len(value)}. */
    static long length(Value value) {
        return switch (value) {
            case Text(String text) -> text.codePointCount(0, text.length());
            case Items(var values, var ignored) -> values.size();
            case Dict(var entries) -> entries.size();
            case Undefined ignored -> 0;
            default -> throw new TemplateError(typeName(value) + " has no length");
        };
    }

    static Value arithmetic(String operator, Value left, Value right, Budget budget) {
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            return Numbers.arithmetic(operator, left, right);
        }
        if (operator.equals("+") && left instanceof Text(String a) && right instanceof Text(String b)) {
            budget.text((long) a.length() + b.length());
            return new Text(a + b);
        }
        if (operator.equals("+")
                && left instanceof Items(var a, Items.Kind kind)
                && right instanceof Items(var b, Items.Kind otherKind)
                && kind == otherKind
                && kind.ordinal() <= Items.Kind.TUPLE.ordinal()) {
            budget.text((long) a.size() + b.size());
            List<Value> both = new ArrayList<>(a);
            both.addAll(b);
            return new Items(both, kind);
        }
        if (operator.equals("*") && Numbers.isInteger(right)) {
            return repeated(left, Numbers.integer(right, ""), right, budget);
        }
        if (operator.equals("*") && Numbers.isInteger(left)) {
            return repeated(right, Numbers.integer(left, ""), left, budget);
        }
        if (operator.equals("%") && left instanceof Text(String format)) {
            return Formatting.percent(format, right, budget);
        }
        throw noOperator(operator, left, right);
    }

    private static TemplateError noOperator(String operator, Value left, Value right) {
        return new TemplateError(
                "\"" + operator + "\" is not supported between " + typeName(left) + " and " + typeName(right));
    }

    private static Value repeated(Value value, long times, Value other, Budget budget) {
        int count = Math.clamp(times, 0, Integer.MAX_VALUE);
        if (value instanceof Text(String text)) {
            budget.text((long) text.length() * count);
            return new Text(text.repeat(count));
        }
        if (value instanceof Items(var values, Items.Kind kind) && kind.ordinal() <= Items.Kind.TUPLE.ordinal()) {
            budget.text((long) values.size() * count);
            List<Value> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                all.addAll(values);
            }
            return new Items(all, kind);
        }
        throw noOperator("*", value, other);
    }

    /**
     * Evaluates {@code object[key]}: the value in a dict, the item of a list or string, else a member with that name.
     */
    static Value item(Value object, Value key, Budget budget) {
        if (object instanceof Text(String text)) {
            budget.spend(text.length());
        }
        Optional<Value> found = place(object, key);
        if (found.isPresent()) {
            return found.get();
        }
        String name = key instanceof Text(String text) ? text : PythonText.str(key);
        return key instanceof Text ? Methods.member(object, name, budget).orElse(new Undefined(name)) : new Undefined(name);
    }

    /** Evaluates {@code object.name}: a member, or else the value of that key. */
    static Value attribute(Value object, String name, Budget budget) {
        if (object instanceof Undefined(String what)) {
            throw new TemplateError(what + " is undefined, so it has no \"" + name + '"');
        }
        return Methods.member(object, name, budget)
                .or(() -> object instanceof Dict ? place(object, new Text(name)) : Optional.empty())
                .orElse(new Undefined(name));
    }

    private static Optional<Value> place(Value object, Value key) {
        return switch (object) {
            case Undefined(String what) ->
                throw new TemplateError(what + " is undefined, so it has no [" + PythonText.str(key) + "]");
            case Dict(var entries) -> Optional.ofNullable(entries.get(key));
            case Items(var values, Items.Kind kind) when kind != Items.Kind.VIEW && Numbers.isInteger(key) ->
                at(values, Numbers.integer(key, ""));
            case Text(String text) when Numbers.isInteger(key) -> character(text, Numbers.integer(key, ""));
            default -> Optional.empty();
        };
    }

    private static Optional<Value> at(List<Value> values, long index) {
        long place = index < 0 ? index + values.size() : index;
        return place < 0 || place >= values.size() ? Optional.empty() : Optional.of(values.get((int) place));
    }

    private static Optional<Value> character(String text, long index) {
        int length = text.codePointCount(0, text.length());
        long place = index < 0 ? index + length : index;
        return place < 0 || place >= length
                ? Optional.empty()
                : Optional.of(new Text(Character.toString(text.codePointAt(text.offsetByCodePoints(0, (int) place)))));
    }

    /** Evaluates {@code object[start:stop:step]}. */
    static Value slice(
            Value object, Optional<Value> start, Optional<Value> stop, Optional<Value> step, Budget budget) {
        boolean sliceable = object instanceof Text
                || (object instanceof Items(var ignored, Items.Kind kind) && kind != Items.Kind.VIEW);
        if (!sliceable) {
            throw new TemplateError(typeName(object) + " cannot be sliced");
        }
        int length = Math.toIntExact(length(object));
        budget.spend(length);
        int stride = bound(step, 1);
        if (stride == 0) {
            throw new TemplateError("the step of a slice is 0");
        }
        int from = stride > 0 ? edge(bound(start, 0), length, 0) : edge(bound(start, length - 1), length, -1);
        int to = stride > 0
                ? edge(bound(stop, length), length, 0)
                : isAbsent(stop) ? -1 : edge(bound(stop, 0), length, -1);
        PrimitiveIterator.OfInt places = LongStream.iterate(from, i -> stride > 0 ? i < to : i > to, i -> i + stride)
                .mapToInt(i -> (int) i)
                .iterator();
        if (object instanceof Items(var values, Items.Kind kind)) {
            List<Value> taken = new ArrayList<>();
            places.forEachRemaining((int place) -> taken.add(values.get(place)));
            return new Items(taken, kind);
        }
        int[] points = PythonText.str(object).codePoints().toArray();
        StringBuilder text = new StringBuilder();
        places.forEachRemaining((int place) -> text.appendCodePoint(points[place]));
        return new Text(text.toString());
    }

    private static boolean isAbsent(Optional<Value> bound) {
        return bound.isEmpty() || bound.get() instanceof None;
    }

    private static int bound(Optional<Value> bound, int absent) {
        return isAbsent(bound) ? absent : Numbers.bounded(bound.orElseThrow(), "the bound of a slice");
    }

    /**
     * Returns a bound within a list, counted from its end if it is negative; {@code least} is the end of a backward
     * slice.
     */
    private static int edge(int bound, int length, int least) {
        long place = bound < 0 ? (long) bound + length : bound;
        return Math.clamp(place, least, length + least);
    }
}
