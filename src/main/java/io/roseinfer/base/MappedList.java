package io.roseinfer.base;

import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import java.util.function.Function;
import java.util.function.Predicate;

/** A view of a list with another element for each of its elements, created on every access, so that it takes no memory. */
public final class MappedList<T, R> extends AbstractList<R> implements RandomAccess {
    private final List<T> elements;
    private final Function<? super T, ? extends R> map;

    /**
     * Creates a view.
     *
     * @param elements a list with fast access by index, not modified later
     * @param map always gives equal elements for the same element
     */
    public MappedList(List<T> elements, Function<? super T, ? extends R> map) {
        this.elements = elements;
        this.map = map;
    }

    /** Returns a view of the elements whose views satisfy a condition. */
    public MappedList<T, R> filter(Predicate<? super R> isKept) {
        return new MappedList<>(
                elements.stream()
                        .filter(element -> isKept.test(map.apply(element)))
                        .toList(),
                map);
    }

    @Override
    public R get(int index) {
        return map.apply(elements.get(index));
    }

    @Override
    public int size() {
        return elements.size();
    }
}
