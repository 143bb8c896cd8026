package io.roseinfer.metrics;

import io.roseinfer.base.SplitMix64;
import java.util.Arrays;

/**
 * The number of occurrences of each value in a sample. Its memory grows with the number of different values, of which
 * simulated times have few. Not thread-safe.
 */
public final class ValueCounts {
    private static final int INITIAL_CAPACITY = 64;

    /** An open-addressing hash table; entries without occurrences are free. */
    private long[] values = new long[INITIAL_CAPACITY];

    private int[] counts = new int[INITIAL_CAPACITY];
    private int distinct;
    private int size;

    /** Adds an occurrence of a value. */
    public void add(long value) {
        int entry = entry(value);
        if (counts[entry] == 0) {
            values[entry] = value;
            distinct++;
        }
        counts[entry]++;
        size++;
        if (2 * distinct > values.length) {
            grow();
        }
    }

    private int entry(long value) {
        int mask = values.length - 1;
        int entry = (int) SplitMix64.mix(value) & mask;
        while (counts[entry] != 0 && values[entry] != value) {
            entry = (entry + 1) & mask;
        }
        return entry;
    }

    private void grow() {
        long[] oldValues = values;
        int[] oldCounts = counts;
        values = new long[2 * oldValues.length];
        counts = new int[values.length];
        for (int i = 0; i < oldValues.length; i++) {
            if (oldCounts[i] > 0) {
                int entry = entry(oldValues[i]);
                values[entry] = oldValues[i];
                counts[entry] = oldCounts[i];
            }
        }
    }

    /** Returns the number of occurrences of all values. */
    public int size() {
        return size;
    }

    /** Returns the number of occurrences of a value. */
    public int count(long value) {
        return counts[entry(value)];
    }

    /** Returns the different values in ascending order. */
    public long[] ascending() {
        long[] ascending = new long[distinct];
        int next = 0;
        for (int i = 0; i < values.length; i++) {
            if (counts[i] > 0) {
                ascending[next++] = values[i];
            }
        }
        Arrays.sort(ascending);
        return ascending;
    }

    /** Returns the ranks of the values added so far, for a second pass over the sample. */
    public Ranks ranks() {
        return new Ranks();
    }

    /** Ranks in ascending order, from 0; equal values are ranked in the order of their calls. */
    public final class Ranks {
        /** For each entry of the table, the rank of the value's next occurrence. */
        private final int[] next = new int[values.length];

        private Ranks() {
            int rank = 0;
            for (long value : ascending()) {
                int entry = entry(value);
                next[entry] = rank;
                rank += counts[entry];
            }
        }

        /** Returns the rank of the next occurrence of a value; at most as many as there are. */
        public int next(long value) {
            return next[entry(value)]++;
        }
    }
}
