package io.roseinfer.bench.report;

import java.util.Arrays;

/** Sorting of indices by primitive values. */
final class StableOrder {
    private StableOrder() {}

    /** Returns the indices of the values in ascending order; equal values keep their order. */
    static int[] ascending(long... values) {
        long[] sorted = values.clone();
        Arrays.sort(sorted);
        // By the first place of a value: how many indices of that value are placed.
        int[] placed = new int[values.length];
        int[] order = new int[values.length];
        int first = 0;
        for (int i = 0; i < values.length; i++) {
            if (sorted[first] != values[i]) {
                first = firstPlace(sorted, values[i]);
            }
            order[first + placed[first]++] = i;
        }
        return order;
    }

    private static int firstPlace(long[] sorted, long value) {
        int low = 0;
        int high = sorted.length - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sorted[middle] < value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
