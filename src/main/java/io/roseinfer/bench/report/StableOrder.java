package io.roseinfer.bench.report;

import java.util.Arrays;

/** Sorting of indices by primitive values. */
final class StableOrder {
    private StableOrder() {}

    /** Returns the indices of the values in ascending order; equal values keep their order. */
    static int[] ascending(long... values) {
        long min = Long.MAX_VALUE;
        long max = Long.MIN_VALUE;
        for (long value : values) {
            min = Math.min(min, value);
            max = Math.max(max, value);
        }
        int indexBits = Integer.SIZE - Integer.numberOfLeadingZeros(values.length);
        long range = max - min;
        return range >= 0 && range < 1L << (Long.SIZE - 1 - indexBits)
                ? ascendingPacked(values, min, indexBits)
                : ascendingWide(values);
    }

    /** Sorts each value together with its index, in the lower bits of one number. */
    private static int[] ascendingPacked(long[] values, long min, int indexBits) {
        long[] packed = new long[values.length];
        for (int i = 0; i < values.length; i++) {
            packed[i] = (values[i] - min) << indexBits | i;
        }
        Arrays.sort(packed);
        int[] order = new int[values.length];
        for (int i = 0; i < order.length; i++) {
            order[i] = (int) (packed[i] & ((1L << indexBits) - 1));
        }
        return order;
    }

    private static int[] ascendingWide(long... values) {
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
