package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import java.util.concurrent.locks.LockSupport;

/** A precise wait for a time of a clock. */
@FunctionalInterface
interface Pacer {
    /** Time to spin before the deadline: more than timer slack and wake-up latency on an idle machine. */
    long SPIN_NANOS = 150_000;

    /** Returns at {@code deadlineNanos}, or at once if it has passed. */
    void awaitUntil(long deadlineNanos);

    /**
     * Returns a pacer that sleeps until shortly before the deadline and then spins, because a sleep ends about 60 µs late. An interrupt
     * does not shorten the wait; the flag stays set.
     */
    static Pacer precise(Clock clock) {
        return deadlineNanos -> {
            long left = deadlineNanos - clock.nanos();
            while (left > 0) {
                if (left > SPIN_NANOS && !Thread.currentThread().isInterrupted()) {
                    LockSupport.parkNanos(left - SPIN_NANOS);
                } else {
                    Thread.onSpinWait();
                }
                left = deadlineNanos - clock.nanos();
            }
        };
    }
}
