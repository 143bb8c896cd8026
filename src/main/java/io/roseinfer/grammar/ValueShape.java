package io.roseinfer.grammar;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A set of JSON values, by type. Immutable.
 *
 * @param booleans bit 0: whether {@code false} is in the set; bit 1: {@code true}
 * @param arrays sets whose union is the arrays
 * @param objects sets whose union is the objects
 */
record ValueShape(
        boolean nulls,
        int booleans,
        DecimalSet numbers,
        Texts strings,
        List<ArrayShape> arrays,
        List<ObjectShape> objects) {
    /** Every value. */
    static final ValueShape ALL = new ValueShape(
            true, 3, DecimalSet.ALL, Texts.Pattern.ALL, List.of(ArrayShape.ANY), List.of(ObjectShape.ANY));

    /** No value. */
    static final ValueShape NONE = new ValueShape(false, 0, DecimalSet.NONE, Texts.Finite.NONE, List.of(), List.of());

    static ValueShape ofArrays(List<ArrayShape> arrays) {
        return new ValueShape(false, 0, DecimalSet.NONE, Texts.Finite.NONE, arrays, List.of());
    }

    static ValueShape ofObjects(List<ObjectShape> objects) {
        return new ValueShape(false, 0, DecimalSet.NONE, Texts.Finite.NONE, List.of(), objects);
    }

    ValueShape withNumbers(DecimalSet set) {
        return new ValueShape(nulls, booleans, set, strings, arrays, objects);
    }

    ValueShape withStrings(Texts set) {
        return new ValueShape(nulls, booleans, numbers, set, arrays, objects);
    }

    ValueShape withArrays(List<ArrayShape> sets) {
        return new ValueShape(nulls, booleans, numbers, strings, sets, objects);
    }

    ValueShape withObjects(List<ObjectShape> sets) {
        return new ValueShape(nulls, booleans, numbers, strings, arrays, sets);
    }

    /** Compares the cheapest first; the methods of a record are slow until they are compiled. */
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof ValueShape shape
                        && nulls == shape.nulls
                        && booleans == shape.booleans
                        && numbers.equals(shape.numbers)
                        && arrays.equals(shape.arrays)
                        && objects.equals(shape.objects)
                        && strings.equals(shape.strings));
    }

    @Override
    public int hashCode() {
        return (numbers.hashCode() * 31 + arrays.hashCode()) * 31 + objects.hashCode();
    }

    /** Returns the common values. */
    ValueShape and(ValueShape other) {
        if (equals(ALL) || other.equals(NONE)) {
            return other;
        }
        if (other.equals(ALL) || equals(NONE)) {
            return this;
        }
        return new ValueShape(
                nulls && other.nulls,
                booleans & other.booleans,
                numbers.equals(DecimalSet.ALL)
                        ? other.numbers
                        : other.numbers.equals(DecimalSet.ALL) ? numbers : numbers.and(other.numbers),
                strings.and(other.strings),
                product(arrays, other.arrays, ArrayShape::and, ArrayShape.ANY),
                product(objects, other.objects, ObjectShape::and, ObjectShape.ANY));
    }

    private static <S> List<S> product(List<S> left, List<S> right, BiFunction<S, S, @Nullable S> and, S any) {
        if (left.equals(List.of(any))) {
            return right;
        }
        if (right.equals(List.of(any)) || left.isEmpty()) {
            return left;
        }
        if (left.size() == 1 && right.size() == 1) {
            S both = common(left.getFirst(), right.getFirst(), and);
            return both == null ? List.of() : List.of(both);
        }
        Set<S> distinct = new LinkedHashSet<>();
        for (S one : left) {
            for (S two : right) {
                S both = common(one, two, and);
                if (both != null) {
                    distinct.add(both);
                }
                requireFew(distinct.size());
            }
        }
        return new ArrayList<>(distinct);
    }

    private static <S> @Nullable S common(S one, S two, BiFunction<S, S, @Nullable S> and) {
        return one.equals(two) ? one : and.apply(one, two);
    }

    private static void requireFew(int alternatives) {
        GrammarSize.require(
                alternatives <= GrammarSize.ALTERNATIVES,
                "the number of alternatives of one value",
                alternatives,
                "at most " + GrammarSize.ALTERNATIVES + "; simplify anyOf, oneOf, not and if");
    }

    /** Returns the values of either set. */
    ValueShape or(ValueShape other) {
        return anyOf(Stream.of(this, other));
    }

    /** Returns the values of any of the sets. */
    static ValueShape anyOf(Stream<ValueShape> sets) {
        boolean all = false;
        boolean nulls = false;
        int booleans = 0;
        DecimalSet numbers = DecimalSet.NONE;
        List<Texts> strings = new ArrayList<>();
        Set<ArrayShape> arrays = new LinkedHashSet<>();
        Set<ObjectShape> objects = new LinkedHashSet<>();
        for (ValueShape set : (Iterable<ValueShape>) sets::iterator) {
            GrammarWork.add(1L + set.arrays.size() + set.objects.size());
            all |= set.equals(ALL);
            nulls |= set.nulls;
            booleans |= set.booleans;
            numbers = numbers.or(set.numbers);
            strings.add(set.strings);
            addAll(arrays, set.arrays, ArrayShape.ANY);
            addAll(objects, set.objects, ObjectShape.ANY);
        }
        return all
                ? ALL
                : new ValueShape(
                        nulls, booleans, numbers, Texts.anyOf(strings), List.copyOf(arrays), List.copyOf(objects));
    }

    /** Adds sets to a union, which is only {@code any} once it has that. */
    private static <S> void addAll(Set<S> union, List<S> sets, S any) {
        if (union.contains(any)) {
            return;
        }
        union.addAll(sets);
        if (union.contains(any)) {
            union.retainAll(Set.of(any));
        }
        requireFew(union.size());
    }

    /**
     * Returns every other value.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if that is not supported or too large
     */
    ValueShape not() {
        List<ArrayShape> otherArrays = List.of(ArrayShape.ANY);
        for (ArrayShape one : arrays) {
            List<ArrayShape> complement = one.equals(ArrayShape.ANY) ? List.of() : one.not();
            otherArrays = product(
                    otherArrays,
                    complement.stream()
                            .map(ArrayShape::normalized)
                            .filter(Objects::nonNull)
                            .toList(),
                    ArrayShape::and,
                    ArrayShape.ANY);
        }
        List<ObjectShape> otherObjects = List.of(ObjectShape.ANY);
        for (ObjectShape one : objects) {
            List<ObjectShape> complement = one.equals(ObjectShape.ANY) ? List.of() : one.not();
            otherObjects = product(
                    otherObjects,
                    complement.stream()
                            .map(ObjectShape::normalized)
                            .filter(Objects::nonNull)
                            .toList(),
                    ObjectShape::and,
                    ObjectShape.ANY);
        }
        return new ValueShape(
                !nulls, 3 & ~booleans, DecimalSet.ALL.minus(numbers), strings.not(), otherArrays, otherObjects);
    }

    /** Returns whether arrays and objects are left out. */
    boolean isScalar() {
        return arrays.isEmpty() && objects.isEmpty();
    }

    boolean hasScalar() {
        return nulls || booleans != 0 || !numbers.isEmpty() || !strings.isEmpty();
    }
}
