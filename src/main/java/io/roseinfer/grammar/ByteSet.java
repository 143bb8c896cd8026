package io.roseinfer.grammar;

/** An immutable set of bytes, as four words of 64 bits. */
record ByteSet(long first, long second, long third, long fourth) {
    static final ByteSet NONE = new ByteSet(0, 0, 0, 0);

    /** Returns the bytes from {@code low} to {@code high}, both included and unsigned. */
    static ByteSet range(int low, int high) {
        return new ByteSet(word(low, high, 0), word(low, high, 64), word(low, high, 128), word(low, high, 192));
    }

    private static long word(int low, int high, int start) {
        int from = Math.max(low - start, 0);
        int to = Math.min(high - start, 63);
        return from > to ? 0 : -1L >>> (63 - (to - from)) << from;
    }

    boolean contains(int value) {
        long word =
                switch (value >>> 6) {
                    case 0 -> first;
                    case 1 -> second;
                    case 2 -> third;
                    default -> fourth;
                };
        return (word >>> value & 1) != 0;
    }

    ByteSet union(ByteSet other) {
        return new ByteSet(first | other.first, second | other.second, third | other.third, fourth | other.fourth);
    }

    ByteSet intersection(ByteSet other) {
        return new ByteSet(first & other.first, second & other.second, third & other.third, fourth & other.fourth);
    }
}
