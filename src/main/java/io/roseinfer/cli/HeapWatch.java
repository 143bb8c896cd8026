package io.roseinfer.cli;

import io.roseinfer.base.Clock;
import io.roseinfer.cli.terminal.Terminal;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A limit on garbage collection time while the heap is nearly full. The serial collector has no such limit: just short of an
 * {@link OutOfMemoryError} it collects forever, and the process makes no progress and ignores signals.
 */
final class HeapWatch {
    /** The window of the command. */
    static final Duration WINDOW = Duration.ofSeconds(10);

    private static final double NEARLY_FULL = 0.05;
    private static final double MAX_COLLECTING_SHARE = 0.8;
    private static final long INTERVAL_MILLIS = 1000;

    private final long windowNanos;
    private boolean isNearlyFull;
    private long startNanos;
    private long startCollectingNanos;

    HeapWatch(Duration window) {
        this.windowNanos = window.toNanos();
    }

    /**
     * Returns whether the process should end: for the whole window the heap was nearly full at every check, and collection took
     * 80 % of the time. Allocates nothing, as no memory may be left.
     *
     * @param collectingNanos time spent collecting since the process began
     * @param free unused share of the maximum heap, 0 to 1
     */
    boolean isExhausted(long nowNanos, long collectingNanos, double free) {
        boolean wasNearlyFull = isNearlyFull;
        isNearlyFull = free <= NEARLY_FULL;
        long nanos = nowNanos - startNanos;
        long collected = collectingNanos - startCollectingNanos;
        boolean isComplete = isNearlyFull && wasNearlyFull && nanos >= windowNanos;
        if (isComplete || !wasNearlyFull) {
            startNanos = nowNanos;
            startCollectingNanos = collectingNanos;
        }
        return isComplete && collected >= MAX_COLLECTING_SHARE * nanos;
    }

    /**
     * Watches the heap of this process on a new thread, and runs {@code end} when it is exhausted. Returns after the first check: by then
     * all required classes are loaded, so the heap may fill up.
     */
    static void start(Terminal terminal, Duration window, Runnable end) {
        Clock clock = terminal.clock();
        GarbageCollectorMXBean[] collectors =
                ManagementFactory.getGarbageCollectorMXBeans().toArray(GarbageCollectorMXBean[]::new);
        CountDownLatch watching = new CountDownLatch(1);
        Thread.ofPlatform()
                .daemon()
                .name("heap-watch")
                .start(() -> watch(new HeapWatch(window), clock, collectors, watching, end));
        try {
            watching.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void watch(
            HeapWatch watch, Clock clock, GarbageCollectorMXBean[] collectors, CountDownLatch watching, Runnable end) {
        Runtime runtime = Runtime.getRuntime();
        long pauseMillis = 0;
        try {
            while (!watch.isExhausted(clock.nanos(), collectingNanos(collectors), free(runtime))) {
                Thread.sleep(pauseMillis);
                pauseMillis = INTERVAL_MILLIS;
                watching.countDown();
            }
            end.run();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long collectingNanos(GarbageCollectorMXBean... collectors) {
        long millis = 0;
        for (GarbageCollectorMXBean collector : collectors) {
            millis += collector.getCollectionTime();
        }
        return millis * 1_000_000;
    }

    private static double free(Runtime runtime) {
        return 1 - (double) (runtime.totalMemory() - runtime.freeMemory()) / runtime.maxMemory();
    }
}
