package io.roseinfer.base;

/**
 * The only source of time in roseinfer. Components take a clock as an argument (engine loop, metrics, server,
 * benchmark), so that runs can be replayed and simulated.
 */
@FunctionalInterface
public interface Clock {

    /** Returns monotonic time in nanoseconds from an arbitrary origin; comparable only within one process. */
    long nanos();

    /** Returns the machine's monotonic clock, {@link System#nanoTime}. */
    static Clock system() {
        return System::nanoTime;
    }
}
