package io.roseinfer.base;

/**
 * Always-on checks of internal invariants. A failure is a bug in roseinfer, never a response to invalid input; see
 * {@link RoseException} for that.
 */
public final class Check {
    private Check() {}

    /** Thrown if an internal invariant does not hold. */
    public static final class Failure extends IllegalStateException {
        Failure(String message) {
            super("bug in roseinfer: " + message);
        }
    }

    /**
     * Throws {@link Failure} unless {@code condition} holds. Hot paths call this, so the message must be a constant.
     */
    public static void that(boolean condition, String message) {
        if (!condition) {
            throw new Failure(message);
        }
    }

    /** Throws {@link Failure} unless {@code condition} holds. The message is formatted only on failure. */
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
