package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * The JVM's compilers: threads that nobody has asked for and that take processors from the client. What a warm-up has made hot is
 * compiled behind it, so a measurement waits until they stand still.
 */
final class Compilers {
    private static final long LOOK_NANOS = 10_000_000;
    /** A method that takes longer than these to compile is taken for none. */
    private static final int STILL_LOOKS = 8;

    private static final long MAX_NANOS = 2_000_000_000;

    private Compilers() {}

    /** What they have taken since the process began, for methods that are done; 0 where there are none, as with -Xint. */
    static long millis() {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        return compilers != null && compilers.isCompilationTimeMonitoringSupported()
                ? compilers.getTotalCompilationTime()
                : 0;
    }

    /** Returns when no method has been finished for a while, after two seconds at most. An interrupt ends the wait; the flag stays set. */
    static void awaitStill(Clock clock) {
        long untilNanos = clock.nanos() + MAX_NANOS;
        long last = millis();
        int still = 0;
        while (still < STILL_LOOKS
                && clock.nanos() < untilNanos
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(LOOK_NANOS);
            long now = millis();
            still = now == last ? still + 1 : 0;
            last = now;
        }
    }
}
