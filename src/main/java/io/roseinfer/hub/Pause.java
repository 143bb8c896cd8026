package io.roseinfer.hub;

import java.time.Duration;

/** Sleep between two attempts of a download; tests pass a no-op. */
@FunctionalInterface
public interface Pause {
    /** Waits, or returns at once. */
    void pause(Duration duration) throws InterruptedException;
}
