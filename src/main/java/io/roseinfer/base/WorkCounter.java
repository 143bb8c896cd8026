package io.roseinfer.base;

import java.util.concurrent.CancellationException;

/**
 * Counts the steps of a computation, and cancels it if its thread is interrupted. The count bounds the work. Tests
 * compare counts because times vary. Not thread-safe.
 */
public final class WorkCounter {
    private static final int BETWEEN_CHECKS = 4096;

    private long count;
    private long nextCheck = BETWEEN_CHECKS;

    /** Returns a counter that ignores interrupts, for static initializers: after a failure their class is unusable. */
    public static WorkCounter uninterruptible() {
        WorkCounter counter = new WorkCounter();
        counter.nextCheck = Long.MAX_VALUE;
        return counter;
    }

    /**
     * Adds to the count.
     *
     * @throws CancellationException if the thread is interrupted, checked once every {@value #BETWEEN_CHECKS} steps;
     *     the interrupt status remains set
     */
    public void add(long steps) {
        count += steps;
        if (count >= nextCheck) {
            check();
        }
    }

    private void check() {
        nextCheck = count + BETWEEN_CHECKS;
        if (Thread.currentThread().isInterrupted()) {
            throw new CancellationException("interrupted after " + count + " steps");
        }
    }

    /** Returns the number of steps counted. */
    public long count() {
        return count;
    }
}
