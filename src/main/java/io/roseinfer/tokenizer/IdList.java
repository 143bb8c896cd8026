package io.roseinfer.tokenizer;

import java.util.Arrays;

/** A growing list of ids without boxes. */
final class IdList {
    private int[] ids;
    private int size;

    /** An empty list with room for some ids. */
    public IdList(int capacity) {
        ids = new int[Math.max(8, capacity)];
    }

    /** Adds an id at the end. */
    public void add(int id) {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, size * 2);
        }
        ids[size++] = id;
    }

    /** How many ids there are. */
    public int size() {
        return size;
    }

    /** The id at an index below {@link #size}. */
    public int get(int index) {
        return ids[index];
    }

    /** Removes all ids and keeps the room. */
    public void clear() {
        size = 0;
    }

    /** A copy of the ids. */
    public int[] toArray() {
        return Arrays.copyOf(ids, size);
    }
}
