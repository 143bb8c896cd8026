package io.roseinfer.format;

import java.time.Duration;

/** How a download waits between two attempts: really in life, not at all in a test. */
@FunctionalInterface
public interface Pause {
    /** Waits, or returns at once. */
    void pause(Duration duration) throws InterruptedException;
}
