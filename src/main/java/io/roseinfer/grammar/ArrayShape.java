package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.grammar.Condition.All;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set of JSON arrays. Immutable.
 *
 * @param prefix conditions on the first elements
 * @param rest the condition on every further element
 * @param min the minimum length
 * @param max the maximum length, or {@link #UNBOUNDED}
 * @param contains conditions that a number of elements fulfil
 * @param unique whether the elements differ
 */
record ArrayShape(List<All> prefix, All rest, int min, int max, List<Contains> contains, boolean unique) {
    static final int UNBOUNDED = Integer.MAX_VALUE;

    /** Every array. */
    static final ArrayShape ANY = new ArrayShape(List.of(), All.TRUE, 0, UNBOUNDED, List.of(), false);

    /**
     * A condition that a number of elements fulfil.
     *
     * @param from the index of the first element that counts
     */
    record Contains(All value, int min, int max, int from) {}

    static ArrayShape ofLength(int min, int max) {
        return new ArrayShape(List.of(), All.TRUE, min, max, List.of(), false);
    }

    static ArrayShape containing(Contains contains) {
        return new ArrayShape(List.of(), All.TRUE, 0, UNBOUNDED, List.of(contains), false);
    }

    /** Returns the condition on an element. */
    All at(int index) {
        return index < prefix.size() ? prefix.get(index) : rest;
    }

    /** Returns a simpler form of the same set, or null if it is empty by its own numbers. */
    @Nullable
    ArrayShape normalized() {
        int least = min;
        int most = max;
        List<Contains> counted = new ArrayList<>();
        for (Contains one : contains) {
            if (one.min > one.max || (one.min > 0 && one.value.isFalse())) {
                return null;
            }
            if (one.value.isTrue() && one.from == 0) {
                least = Math.max(least, one.min);
                most = Math.min(most, one.max);
            } else if (!one.value.isFalse() && (one.min > 0 || one.max < UNBOUNDED) && !counted.contains(one)) {
                counted.add(one);
            }
        }
        for (int i = 0; i < prefix.size(); i++) {
            if (prefix.get(i).isFalse()) {
                most = Math.min(most, i);
            }
        }
        All others = rest;
        if (others.isFalse()) {
            most = Math.min(most, prefix.size());
        }
        List<All> first = prefix;
        if (most <= prefix.size()) {
            first = prefix.subList(0, most);
            others = All.TRUE;
        }
        if (least > most) {
            return null;
        }
        return new ArrayShape(List.copyOf(first), others, least, most, List.copyOf(counted), unique && most > 1);
    }

    /** Returns the common arrays, or null if there are certainly none. */
    @Nullable
    ArrayShape and(ArrayShape other) {
        List<All> both = new ArrayList<>();
        for (int i = 0; i < Math.max(prefix.size(), other.prefix.size()); i++) {
            both.add(at(i).and(other.at(i)));
        }
        List<Contains> counted = new ArrayList<>(contains);
        counted.addAll(other.contains);
        int least = Math.max(min, other.min);
        int most = Math.min(max, other.max);
        return new ArrayShape(both, rest.and(other.rest), least, most, counted, unique || other.unique).normalized();
    }

    /**
     * Returns sets whose union is every other array.
     *
     * @throws BadInput for {@code uniqueItems}
     */
    List<ArrayShape> not() {
        if (unique) {
            throw new BadInput("uniqueItems is not supported in a schema that must not match (not, if, oneOf)");
        }
        List<ArrayShape> others = new ArrayList<>();
        if (min > 0) {
            others.add(ofLength(0, min - 1));
        }
        if (max < UNBOUNDED) {
            others.add(ofLength(max + 1, UNBOUNDED));
        }
        List<All> before = new ArrayList<>();
        for (All first : prefix) {
            List<All> violated = new ArrayList<>(before);
            violated.add(All.not(first));
            if (!first.isTrue()) {
                others.add(new ArrayShape(violated, All.TRUE, violated.size(), UNBOUNDED, List.of(), false));
            }
            before.add(All.TRUE);
        }
        if (!rest.isTrue()) {
            others.add(containing(new Contains(All.not(rest), 1, UNBOUNDED, prefix.size())));
        }
        for (Contains one : contains) {
            if (one.min > 0) {
                others.add(containing(new Contains(one.value, 0, one.min - 1, one.from)));
            }
            if (one.max < UNBOUNDED) {
                others.add(containing(new Contains(one.value, one.max + 1, UNBOUNDED, one.from)));
            }
        }
        return others;
    }
}
