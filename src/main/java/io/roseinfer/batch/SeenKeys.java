package io.roseinfer.batch;

import java.util.Arrays;

/**
 * The lines of a batch that have been read or written so far: 20 to 30 bytes each, in open-addressing tables of two longs a slot. There
 * are many small ones, so that one which grows by half is copied beside all the others and not beside itself alone. One thread at a time
 * uses it.
 */
final class SeenKeys {
    /** What is known of a line that has been read. */
    enum Known {
        /** Nothing. */
        NEW,
        /** Its answer stands in the output. */
        ANSWERED,
        /** Another line before had its custom id. */
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

    /** The index of a key's first long, or of the free slot where it would go. A slot without a state is free. */
    private static int find(long[] table, long high, long low) {
        int slots = table.length / 2;
        int slot = (int) (((high & 0xffff_ffffL) * slots) >>> Integer.SIZE);
        while ((table[2 * slot + 1] & STATES) != 0
                && (table[2 * slot] != high || (table[2 * slot + 1] & ~STATES) != low)) {
            slot = slot + 1 == slots ? 0 : slot + 1;
        }
        return 2 * slot;
    }

    /** Notes that the output has the answer to a line. */
    void addWritten(RequestKey key) {
        int unused = add(key, WRITTEN);
    }

    /** Notes that a line with a custom id has been read; what was known of it until then. */
    Known read(RequestKey key) {
        int before = add(key, READ);
        if ((before & READ) != 0) {
            return Known.DUPLICATE;
        }
        return before == 0 ? Known.NEW : Known.ANSWERED;
    }

    /** Whether the output has the answer to a line. */
    boolean isWritten(RequestKey key) {
        long[] table = tables[table(key)];
        return (table[find(table, key.high(), key.low()) + 1] & WRITTEN) != 0;
    }

    /** Adds to the state of a key; the state before. */
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

    /** A table with half as many slots again, for one of which four fifths are taken. */
    private static long[] grown(long[] table) {
        long slots = table.length / 2 * 3L / 2;
        if (slots > MAX_SLOTS) {
            throw new OutOfMemoryError("a batch can have " + MAX_SLOTS / 2 * (1 << TABLE_BITS) + " lines");
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

    /** Bytes that the tables take. */
    long bytes() {
        return Arrays.stream(tables)
                .mapToLong(table -> (long) Long.BYTES * table.length)
                .sum();
    }
}
