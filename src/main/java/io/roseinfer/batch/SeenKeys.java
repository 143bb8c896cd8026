package io.roseinfer.batch;

import java.util.Arrays;

/**
 * The lines of a batch read or written so far, 20 to 30 bytes each, in open-addressing tables of two longs per slot.
 * There are many small tables, so that growing one copies only a small part. Not thread-safe.
 */
final class SeenKeys {
    /** The state of a line before it was read. */
    enum Known {
        /** Unknown. */
        NEW,
        /** The output has its response. */
        ANSWERED,
        /** An earlier line had the same custom id. */
        DUPLICATE
    }

    private static final int WRITTEN = 1;
    private static final int READ = 2;
    private static final int STATES = 3;

    private static final int TABLE_BITS = 8;
    private static final int MIN_SLOTS = 16;
    private static final long MAX_SLOTS = 1 << 29;

    private final long[][] tables = new long[1 << TABLE_BITS][];
    private final int[] sizes = new int[1 << TABLE_BITS];

    SeenKeys() {
        Arrays.setAll(tables, table -> new long[2 * MIN_SLOTS]);
    }

    private static int table(RequestKey key) {
        return (int) (key.high() >>> (Long.SIZE - TABLE_BITS));
    }

    /** Returns the index of a key's first long, or of the free slot for it. A slot without a state is free. */
    private static int find(long[] table, long high, long low) {
        int slots = table.length / 2;
        int slot = (int) (((high & 0xffff_ffffL) * slots) >>> Integer.SIZE);
        while ((table[2 * slot + 1] & STATES) != 0
                && (table[2 * slot] != high || (table[2 * slot + 1] & ~STATES) != low)) {
            slot = slot + 1 == slots ? 0 : slot + 1;
        }
        return 2 * slot;
    }

    /** Records that the output has the response to a line. */
    void addWritten(RequestKey key) {
        int unused = add(key, WRITTEN);
    }

    /** Records that a line with a custom id was read, and returns its state before. */
    Known read(RequestKey key) {
        int before = add(key, READ);
        if ((before & READ) != 0) {
            return Known.DUPLICATE;
        }
        return before == 0 ? Known.NEW : Known.ANSWERED;
    }

    /** Returns whether the output has the response to a line. */
    boolean isWritten(RequestKey key) {
        long[] table = tables[table(key)];
        return (table[find(table, key.high(), key.low()) + 1] & WRITTEN) != 0;
    }

    /** Adds to the state of a key, and returns the state before. */
    private int add(RequestKey key, int state) {
        int number = table(key);
        long[] table = tables[number];
        int at = find(table, key.high(), key.low());
        int before = (int) (table[at + 1] & STATES);
        table[at] = key.high();
        table[at + 1] = key.low() | before | state;
        if (before == 0 && 5L * ++sizes[number] > 2L * table.length) {
            tables[number] = grown(table);
        }
        return before;
    }

    /** Returns a copy of a table that is four-fifths full, with half as many slots again. */
    private static long[] grown(long[] table) {
        long slots = table.length / 2 * 3L / 2;
        if (slots > MAX_SLOTS) {
            throw new OutOfMemoryError("a batch can have up to " + MAX_SLOTS / 2 * (1 << TABLE_BITS) + " lines");
        }
        long[] larger = new long[2 * (int) slots];
        for (int i = 0; i < table.length; i += 2) {
            if ((table[i + 1] & STATES) != 0) {
                int at = find(larger, table[i], table[i + 1] & ~STATES);
                larger[at] = table[i];
                larger[at + 1] = table[i + 1];
            }
        }
        return larger;
    }

    /** Returns the size of the tables in bytes. */
    long bytes() {
        return Arrays.stream(tables)
                .mapToLong(table -> (long) Long.BYTES * table.length)
                .sum();
    }
}
