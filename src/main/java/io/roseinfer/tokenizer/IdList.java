package io.roseinfer.tokenizer;

import java.util.Arrays;

/** A growable list of primitive ids. */
final class IdList {
    private int[] ids;
    private int size;

    /** Creates an empty list. */
    public IdList(int capacity) {
        ids = new int[Math.max(8, capacity)];
    }

    /** Appends an id. */
    public void add(int id) {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, size * 2);
        }
        ids[size++] = id;
    }

    /** Returns the number of ids. */
    public int size() {
        return size;
    }

    /** Returns the id at an index below {@link #size}. */
    public int get(int index) {
        return ids[index];
    }

    /** Removes all ids and keeps the capacity. */
    public void clear() {
        size = 0;
    }

    /** Returns a copy of the ids. */
    public int[] toArray() {
        return Arrays.copyOf(ids, size);
    }
}
