package io.roseinfer.tokenizer;

import java.util.Arrays;

/** A growing list of ids without boxes. */
final class IdList {
    private int[] ids;
    private int size;

    IdList(int capacity) {
        ids = new int[Math.max(8, capacity)];
    }

    void add(int id) {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, size * 2);
        }
        ids[size++] = id;
    }

    int size() {
        return size;
    }

    int get(int index) {
        return ids[index];
    }

    void clear() {
        size = 0;
    }

    int[] toArray() {
        return Arrays.copyOf(ids, size);
    }
}
