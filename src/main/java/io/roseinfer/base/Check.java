package io.roseinfer.base;

/**
 * Always-on checks of our own invariants. A failure is a bug in roseinfer, never the answer to bad input: for that there is
 * {@link RoseException}.
 */
public final class Check {
    private Check() {}

    /** Thrown when an invariant of ours does not hold. */
    public static final class Failure extends IllegalStateException {
        Failure(String message) {
            super("bug in roseinfer: " + message);
        }
    }

    /** Throws {@link Failure} unless {@code condition} holds. The message must be a constant: hot paths call this. */
    public static void that(boolean condition, String message) {
        if (!condition) {
            throw new Failure(message);
        }
    }

    /** Throws {@link Failure} unless {@code condition} holds; two numbers are put into the message only when it does not. */
    public static void that(boolean condition, String format, long first, long second) {
        if (!condition) {
            throw new Failure(String.format(format, first, second));
        }
    }

    /** Throws {@link Failure} unless {@code 0 <= index < size}. */
    public static int index(int index, int size, String what) {
        if (index < 0 || index >= size) {
            throw new Failure(what + " " + index + " is outside 0.." + (size - 1));
        }
        return index;
    }
}
