package io.roseinfer.cli;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/**
 * A limit on the time that garbage collection may take while the heap is nearly full. The serial collector has none: just short of
 * an {@link OutOfMemoryError} it collects for ever, and a process in that state gets nothing done and answers no signal.
 */
final class HeapWatch {
    private static final double NEARLY_FULL = 0.05;
    private static final double MOST_COLLECTING = 0.9;
    private static final long WINDOW_NANOS = 10_000_000_000L;
    private static final long INTERVAL_MILLIS = 1000;

    /** Below this share of free heap the collector's times are read; above it the watch costs one subtraction a second. */
    private static final double LOOK_CLOSER = 0.25;

    /**
     * A look at the heap.
     *
     * @param nanos when
     * @param collectingNanos time spent collecting since the process began
     * @param free share of the largest heap allowed that is not in use, 0 to 1
     */
    record Reading(long nanos, long collectingNanos, double free) {}

    private Optional<Reading> windowStart = Optional.empty();

    /**
     * Whether the process should end: for {@value #WINDOW_NANOS} ns the heap was nearly full whenever it was looked at, and
     * collecting took nine tenths of the time.
     */
    boolean isExhausted(Reading now) {
        if (now.free() > NEARLY_FULL) {
            windowStart = Optional.empty();
            return false;
        }
        Reading start = windowStart.orElse(now);
        long nanos = now.nanos() - start.nanos();
        boolean isComplete = nanos >= WINDOW_NANOS;
        windowStart = Optional.of(isComplete ? now : start);
        return isComplete && now.collectingNanos() - start.collectingNanos() >= MOST_COLLECTING * nanos;
    }

    /** Watches the heap of this process on a thread of its own, and runs {@code end} when it is exhausted. */
    static void start(Terminal terminal, Runnable end) {
        Thread.ofPlatform().daemon().name("heap-watch").start(() -> {
            HeapWatch watch = new HeapWatch();
            while (!watch.isExhausted(read(terminal.clock().nanos()))) {
                try {
                    Thread.sleep(INTERVAL_MILLIS);
                } catch (InterruptedException e) {
                    return;
                }
            }
            end.run();
        });
    }

    private static Reading read(long nanos) {
        Runtime runtime = Runtime.getRuntime();
        double used = (double) (runtime.totalMemory() - runtime.freeMemory());
        double free = 1 - used / runtime.maxMemory();
        return new Reading(nanos, free < LOOK_CLOSER ? collectingNanos() : 0, free);
    }

    private static long collectingNanos() {
        long millis = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            millis += collector.getCollectionTime();
        }
        return millis * 1_000_000;
    }
}
