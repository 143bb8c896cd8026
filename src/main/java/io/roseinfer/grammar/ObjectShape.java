package io.roseinfer.grammar;

import io.roseinfer.grammar.Condition.All;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A set of JSON objects. Immutable.
 *
 * @param named conditions on the values of named properties, in the order in which they are written: first those that
 *     {@code properties} declares, then those that other keywords name, such as {@code required}
 * @param declared the names that {@code properties} declares
 * @param required named properties that must be present
 * @param others disjoint classes of other names; a name in no class is not allowed. Named properties are excluded
 *     without being mentioned
 * @param some for each, an object has a property with such a name and value
 * @param min the minimum number of properties
 * @param max the maximum number, or {@link #UNBOUNDED}
 */
record ObjectShape(
        Map<String, All> named,
        Set<String> declared,
        Set<String> required,
        List<Names> others,
        List<Names> some,
        int min,
        int max) {
    static final int UNBOUNDED = Integer.MAX_VALUE;

    /** Steps of work that one property of two sets of objects counts as. */
    private static final int PROPERTY_STEPS = 6;

    /** Every object. */
    static final ObjectShape ANY = ofOthers(List.of(new Names(Texts.Pattern.ALL, All.TRUE)));

    /** Names and the condition on the values of properties so named. */
    record Names(Texts names, All value) {}

    ObjectShape {
        named = Collections.unmodifiableMap(new LinkedHashMap<>(named));
        declared = Set.copyOf(declared);
        required = Collections.unmodifiableSet(new LinkedHashSet<>(required));
        others = List.copyOf(others);
        some = List.copyOf(some);
    }

    /** Returns the objects whose names are in classes. */
    static ObjectShape ofOthers(List<Names> classes) {
        return new ObjectShape(Map.of(), Set.of(), Set.of(), classes, List.of(), 0, UNBOUNDED);
    }

    /** Returns the objects that have no other names than these. */
    static ObjectShape ofNames(Collection<String> names) {
        return new ObjectShape(anyValues(names), Set.of(), Set.of(), List.of(), List.of(), 0, UNBOUNDED);
    }

    static ObjectShape ofSize(int min, int max) {
        return new ObjectShape(Map.of(), Set.of(), Set.of(), ANY.others, List.of(), min, max);
    }

    /** Returns the objects with some properties. */
    static ObjectShape requiring(Collection<String> names) {
        Map<String, All> named = anyValues(names);
        return new ObjectShape(named, Set.of(), named.keySet(), ANY.others, List.of(), 0, UNBOUNDED);
    }

    private static Map<String, All> anyValues(Collection<String> names) {
        Map<String, All> named = new LinkedHashMap<>();
        names.forEach(name -> named.put(name, All.TRUE));
        return named;
    }

    /** Returns the objects with a property. */
    static ObjectShape with(String name, All value) {
        return new ObjectShape(Map.of(name, value), Set.of(), Set.of(name), ANY.others, List.of(), 0, UNBOUNDED);
    }

    /** Returns the objects whose property, if present, has a value. */
    static ObjectShape optional(String name, All value) {
        return new ObjectShape(Map.of(name, value), Set.of(), Set.of(), ANY.others, List.of(), 0, UNBOUNDED);
    }

    /** Returns the objects without a property. */
    static ObjectShape without(String name) {
        return optional(name, All.FALSE);
    }

    private static ObjectShape withSome(Names names) {
        return ANY.withSome(List.of(names));
    }

    /** Returns the same objects with other requirements of properties by name and value. */
    ObjectShape withSome(List<Names> needed) {
        return new ObjectShape(named, declared, required, others, needed, min, max);
    }

    /** Returns the same objects, for a schema that does not fix their order. */
    ObjectShape undeclared() {
        return new ObjectShape(named, Set.of(), required, others, some, min, max);
    }

    /** Returns the condition on the value of a property. */
    All at(String name) {
        All known = named.get(name);
        if (known != null) {
            return known;
        }
        for (Names one : others) {
            if (one.names.contains(name)) {
                return one.value;
            }
        }
        return All.FALSE;
    }

    /** Returns the common objects, or null if there are certainly none. */
    @Nullable
    ObjectShape and(ObjectShape other) {
        Map<String, All> values = new LinkedHashMap<>();
        addCommon(named.keySet(), declared, other, values);
        addCommon(other.named.keySet(), other.declared, other, values);
        Set<String> fixed = Set.copyOf(values.keySet());
        addCommon(named.keySet(), named.keySet(), other, values);
        addCommon(other.named.keySet(), other.named.keySet(), other, values);
        GrammarWork.add(PROPERTY_STEPS * (1L + values.size()));
        Set<String> present = new LinkedHashSet<>(required);
        present.addAll(other.required);
        Set<Names> exist = new LinkedHashSet<>(some);
        exist.addAll(other.some);
        int least = Math.max(min, other.min);
        int most = Math.min(max, other.max);
        List<Names> classes = common(others, other.others);
        return new ObjectShape(values, fixed, present, classes, List.copyOf(exist), least, most).normalized();
    }

    /** Adds the common values of the chosen ones of some properties. */
    private void addCommon(Set<String> properties, Set<String> chosen, ObjectShape other, Map<String, All> values) {
        for (String name : properties) {
            if (chosen.contains(name) && !values.containsKey(name)) {
                values.put(name, at(name).and(other.at(name)));
            }
        }
    }

    private static List<Names> common(List<Names> left, List<Names> right) {
        List<Names> classes = new ArrayList<>();
        for (Names one : left) {
            for (Names two : right) {
                All value = one.value.and(two.value);
                Texts names = one.names.and(two.names);
                boolean divided = !one.names.equals(Texts.Pattern.ALL) && !two.names.equals(Texts.Pattern.ALL);
                if (!value.isFalse() && !(divided && names.isEmpty())) {
                    classes.add(new Names(names, value));
                }
            }
        }
        GrammarSize.require(
                classes.size() <= GrammarSize.NAME_CLASSES,
                "the number of classes of undeclared property names",
                classes.size(),
                "at most " + GrammarSize.NAME_CLASSES);
        return classes;
    }

    /** Returns this, or null if it is empty by its own numbers. */
    @Nullable
    ObjectShape normalized() {
        long possible = 0;
        for (Map.Entry<String, All> property : named.entrySet()) {
            if (!property.getValue().isFalse()) {
                possible++;
            } else if (required.contains(property.getKey())) {
                return null;
            }
        }
        boolean impossible =
                min > max || required.size() > max || (others.isEmpty() && (possible < min || hasOnlyUnnamed()));
        return impossible ? null : this;
    }

    private boolean hasOnlyUnnamed() {
        return some.stream().anyMatch(one -> named.keySet().stream().noneMatch(one.names::contains));
    }

    /** Returns sets whose union is every other object. */
    List<ObjectShape> not() {
        List<ObjectShape> result = new ArrayList<>();
        for (String name : required) {
            // Absent, or present with another value: one set, in which the property is optional.
            result.add(optional(name, All.not(at(name))));
        }
        named.forEach((name, value) -> {
            if (!value.isTrue() && !required.contains(name)) {
                result.add(with(name, All.not(value)));
            }
        });
        Texts unnamed = new Texts.Finite(List.copyOf(named.keySet())).not();
        Texts uncovered = unnamed;
        for (Names one : others) {
            if (!one.value.isTrue()) {
                result.add(withSome(new Names(one.names.and(unnamed), All.not(one.value))));
            }
            uncovered = uncovered.and(one.names.not());
        }
        if (!uncovered.isEmpty()) {
            result.add(withSome(new Names(uncovered, All.TRUE)));
        }
        for (Names one : some) {
            result.add(withoutAny(one));
        }
        if (min > 0) {
            result.add(ofSize(0, min - 1));
        }
        if (max < UNBOUNDED) {
            result.add(ofSize(max + 1, UNBOUNDED));
        }
        return result;
    }

    /** Compares the cheapest first; the methods of a record are slow until they are compiled. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ObjectShape shape
                        && min == shape.min
                        && max == shape.max
                        && named.equals(shape.named)
                        && declared.equals(shape.declared)
                        && required.equals(shape.required)
                        && others.equals(shape.others)
                        && some.equals(shape.some);
    }

    @Override
    public int hashCode() {
        return (named.hashCode() * 31 + required.hashCode()) * 31 + min;
    }

    private static ObjectShape withoutAny(Names absent) {
        List<Names> classes = new ArrayList<>();
        classes.add(new Names(absent.names.not(), All.TRUE));
        if (!absent.value.isTrue()) {
            classes.add(new Names(absent.names, All.not(absent.value)));
        }
        return ofOthers(classes);
    }
}
