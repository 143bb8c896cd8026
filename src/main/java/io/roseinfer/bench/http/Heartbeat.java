package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Detector of process pauses: a thread that sleeps for a millisecond at a time and keeps the longest delay of a wake-up. Pauses, such as
 * garbage collection or a suspended machine, delay the timestamps of responses without any other trace.
 */
final class Heartbeat {
    private static final long BEAT_NANOS = 1_000_000;

    private final Clock clock;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean stopped;
    private long beforeNanos;
    private long longestNanos;

    private Heartbeat(Clock clock) {
        this.clock = clock;
        this.beforeNanos = clock.nanos();
    }

    /** Starts the thread. */
    static Heartbeat start(Clock clock) {
        Heartbeat heartbeat = new Heartbeat(clock);
        Thread unused =
                Thread.ofPlatform().daemon().name("roseinfer-bench-heartbeat").start(heartbeat::run);
        return heartbeat;
    }

    private void run() {
        while (!stopped) {
            LockSupport.parkNanos(BEAT_NANOS);
            beat();
        }
        ended.countDown();
    }

    private void beat() {
        long nanos = clock.nanos();
        longestNanos = Math.max(longestNanos, nanos - beforeNanos - BEAT_NANOS);
        beforeNanos = nanos;
    }

    /** Stops the thread and returns the longest delay of a wake-up in nanoseconds. */
    long stop() {
        stopped = true;
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return longestNanos;
    }
}
