package io.roseinfer.cli;

import io.roseinfer.base.Clock;
import io.roseinfer.cli.terminal.Terminal;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * A limit on the time that garbage collection may take while the heap is nearly full. The serial collector has none: just short of
 * an {@link OutOfMemoryError} it collects for ever, and a process in that state gets nothing done and answers no signal.
 */
final class HeapWatch {
    private static final double NEARLY_FULL = 0.05;
    private static final double MOST_COLLECTING = 0.8;
    private static final long WINDOW_NANOS = 10_000_000_000L;
    private static final long INTERVAL_MILLIS = 1000;

    /**
     * A look at the heap.
     *
     * @param nanos when
     * @param collectingNanos time spent collecting since the process began
     * @param free share of the largest heap allowed that is not in use, 0 to 1
     */
    record Reading(long nanos, long collectingNanos, double free) {}

    private boolean isNearlyFull;
    private long startNanos;
    private long startCollectingNanos;

    /**
     * Whether the process should end: for {@value #WINDOW_NANOS} ns the heap was nearly full whenever it was looked at, and
     * collecting took four fifths of the time.
     */
    boolean isExhausted(Reading now) {
        boolean wasNearlyFull = isNearlyFull;
        isNearlyFull = now.free() <= NEARLY_FULL;
        long nanos = now.nanos() - startNanos;
        long collectingNanos = now.collectingNanos() - startCollectingNanos;
        boolean isComplete = isNearlyFull && wasNearlyFull && nanos >= WINDOW_NANOS;
        if (isComplete || !wasNearlyFull) {
            startNanos = now.nanos();
            startCollectingNanos = now.collectingNanos();
        }
        return isComplete && collectingNanos >= MOST_COLLECTING * nanos;
    }

    /** Watches the heap of this process on a thread of its own, and runs {@code end} when it is exhausted. */
    static void start(Terminal terminal, Runnable end) {
        Thread.ofPlatform().daemon().name("heap-watch").start(() -> watch(terminal.clock(), end));
    }

    private static void watch(Clock clock, Runnable end) {
        // Loaded while there is room.
        List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
        HeapWatch watch = new HeapWatch();
        try {
            while (!watch.isExhausted(clock, collectors)) {
                Thread.sleep(INTERVAL_MILLIS);
            }
            end.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isExhausted(Clock clock, List<GarbageCollectorMXBean> collectors) {
        try {
            return isExhausted(read(clock.nanos(), collectors));
        } catch (OutOfMemoryError full) {
            // There are others who get one now, and it ends them; if not, there is the next look.
            return false;
        }
    }

    private static Reading read(long nanos, List<GarbageCollectorMXBean> collectors) {
        long collectingMillis = 0;
        for (GarbageCollectorMXBean collector : collectors) {
            collectingMillis += collector.getCollectionTime();
        }
        Runtime runtime = Runtime.getRuntime();
        double used = (double) (runtime.totalMemory() - runtime.freeMemory());
        return new Reading(nanos, collectingMillis * 1_000_000, 1 - used / runtime.maxMemory());
    }
}
