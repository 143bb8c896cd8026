package io.roseinfer.base;

/**
 * The only way roseinfer reads time. A clock is an argument of what needs one (engine loop, metrics, server, benchmark), so a
 * run can be replayed and simulated.
 */
@FunctionalInterface
public interface Clock {

    /** Monotonic time in nanoseconds from an arbitrary origin; only differences within one process mean anything. */
    long nanos();

    /** The machine's monotonic clock, {@link System#nanoTime}. */
    static Clock system() {
        return System::nanoTime;
    }
}
