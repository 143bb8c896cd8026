package io.roseinfer.base;

import java.util.concurrent.CancellationException;

/**
 * Counts the steps of one computation, and ends it if its thread is interrupted. The count bounds the work and shows how it grows;
 * a test can compare it where a clock would vary. For one thread.
 */
public final class Steps {
    private static final int BETWEEN_CHECKS = 4096;

    private long taken;
    private long nextCheck = BETWEEN_CHECKS;

    /**
     * Counts some steps.
     *
     * @throws CancellationException if the thread is interrupted, which is checked once in {@value #BETWEEN_CHECKS} steps; the
     *     interrupt status remains set
     */
    public void take(long count) {
        taken += count;
        if (taken >= nextCheck) {
            check();
        }
    }

    private void check() {
        nextCheck = taken + BETWEEN_CHECKS;
        if (Thread.currentThread().isInterrupted()) {
            throw new CancellationException("interrupted after " + taken + " steps");
        }
    }

    /** Returns the number of steps counted. */
    public long taken() {
        return taken;
    }
}
