package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import java.util.concurrent.locks.LockSupport;

/** Waits for a moment of a clock. */
@FunctionalInterface
interface Pacer {
    /** How much earlier than asked the thread wakes up: more than timer slack and wake-up cost on a quiet machine. */
    long SPIN_NANOS = 150_000;

    /** Returns at {@code deadlineNanos}, or at once if it has passed. */
    void awaitUntil(long deadlineNanos);

    /**
     * Sleeps until shortly before the deadline and spins the rest, because a sleep alone ends some 60 µs late. An interrupt
     * does not shorten it; the flag stays set.
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
