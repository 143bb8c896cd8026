package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * The JIT compilers of the JVM, whose threads take processors from the client. They compile the hot code of a warm-up in the background,
 * so a measurement waits until they are idle.
 */
public final class Compilers {
    private static final long LOOK_NANOS = 10_000_000;
    /** Number of checks without processor time after which the compilers count as idle; on a busy machine they may only be delayed. */
    private static final int STILL_LOOKS = 8;

    private static final long MAX_NANOS = 2_000_000_000;

    private Compilers() {}

    /** Returns the compile time since the process started, for finished methods; 0 without compilers, as with -Xint. */
    static long millis() {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        return compilers != null && compilers.isCompilationTimeMonitoringSupported()
                ? compilers.getTotalCompilationTime()
                : 0;
    }

    /**
     * Waits until this process has used no processor time for a while, at most two seconds. Compile times do not suffice, as they
     * include only finished methods. An interrupt ends the wait and leaves the flag set.
     */
    public static void awaitStill(Clock clock) {
        long untilNanos = clock.nanos() + MAX_NANOS;
        long last = ClientCost.now().cpuNanos();
        int still = 0;
        while (still < STILL_LOOKS
                && clock.nanos() < untilNanos
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(LOOK_NANOS);
            long now = ClientCost.now().cpuNanos();
            still = now == last ? still + 1 : 0;
            last = now;
        }
    }
}
