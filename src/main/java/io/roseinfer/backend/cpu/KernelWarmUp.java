package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.kernel.Kernels;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Gets kernels compiled before steps depend on them. Vector code is hundreds of times slower until the JVM's optimizing compiler
 * has made machine code of it; the scalar kernels are not, and every kind gives the same bits. So a runner begins on the first
 * kind of a list and goes on to the next when a thread of its own has exercised that one until it is compiled.
 *
 * <p>Compiled means: two calls in a row allocate nothing. Vector operations that are not yet machine code allocate every vector.
 *
 * <p>A runner that is not told to warm up puts it off: a few tokens of a small model are through on the scalar kernels before
 * the vector kernels were compiled. It starts by itself once the steps' work shows that it pays, and a step that would take
 * longer on the scalar kernels than the compiling does waits for it, once and for a limited time.
 */
final class KernelWarmUp implements AutoCloseable {
    /** Operations served on scalar kernels before warming up starts by itself: some tenths of a second. */
    private static final long START_FLOPS = 1_000_000_000;

    /** Operations of one step that the scalar kernels would take longer for than compiling does. */
    private static final long WAIT_FLOPS = 4_000_000_000L;

    /** Longest that a step waits: a JVM whose optimizing compiler is off or busy elsewhere may never be through. */
    private static final long MAX_WAIT_NANOS = 10_000_000_000L;

    /** A loop that is still not compiled after so many calls is used as it is; the compiler takes it seriously after some thousands. */
    private static final int MAX_CALLS = 100_000;

    private static final String NAME = "rose-warm-up";

    private final List<Kernels.Factory> kinds;
    private final KernelWarmUpCases cases;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition advanced = lock.newCondition();
    private final Thread thread = Thread.ofPlatform().daemon().name(NAME).unstarted(this::run);
    private volatile int ready;
    private volatile boolean ended;
    private volatile boolean closed;
    private final AtomicBoolean started = new AtomicBoolean();
    /** Operations of the steps so far. */
    private long served;

    private boolean hasWaited;

    /** Kinds of kernels from the one that needs no warming to the fastest. */
    KernelWarmUp(List<Kernels.Factory> kinds, KernelWarmUpCases cases) {
        this.kinds = List.copyOf(kinds);
        this.cases = cases;
    }

    /** The kind of kernels for a step of {@code flops} operations; called by the thread that submits steps. */
    int kindFor(long flops) {
        if (ready == last()) {
            return ready;
        }
        served += flops;
        if (served >= START_FLOPS) {
            start();
        }
        if (ready == 0 && flops >= WAIT_FLOPS && !hasWaited) {
            hasWaited = true;
            await(1, MAX_WAIT_NANOS);
        }
        return ready;
    }

    /**
     * Starts if it has not, and waits until the first kind beyond the scalar kernels is compiled, at most {@code maxNanos}, and until
     * the fastest is, at most {@code fastestNanos} in all. Returns whether the fastest is.
     */
    boolean await(long maxNanos, long fastestNanos) {
        start();
        long spentNanos = maxNanos - await(Math.min(1, last()), maxNanos);
        await(last(), fastestNanos - spentNanos);
        return ready == last();
    }

    private int last() {
        return kinds.size() - 1;
    }

    private void start() {
        if (started.compareAndSet(false, true)) {
            thread.start();
        }
    }

    /** Returns how much of the time was not needed. */
    private long await(int kind, long nanos) {
        long left = nanos;
        lock.lock();
        try {
            while (ready < kind && !ended && !closed && left > 0) {
                left = advanced.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        return left;
    }

    private void run() {
        try {
            for (int kind = ready + 1; kind <= last() && !closed; kind++) {
                exercise(cases.of(kinds.get(kind)));
                advance(kind);
            }
        } catch (OutOfMemoryError e) {
            // The kernels in use go on serving, more slowly.
        } finally {
            ended = true;
            advance(ready);
        }
    }

    private void advance(int kind) {
        lock.lock();
        try {
            ready = kind;
            advanced.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes turns, so that the compiler works on one loop while the calls of the next are counted. At the end all are asked once more:
     * a call may happen to enter machine code of its loop alone and look compiled, or lose its code to what another call showed.
     */
    void exercise(List<Runnable> calls) {
        List<Runnable> open = new ArrayList<>(calls);
        for (int round = 0; !closed && round < MAX_CALLS; round++) {
            open.removeIf(KernelWarmUp::isCompiled);
            if (open.isEmpty()) {
                calls.stream().filter(call -> !isCompiled(call)).forEach(open::add);
                if (open.isEmpty()) {
                    return;
                }
            }
        }
    }

    private static boolean isCompiled(Runnable call) {
        long before = Allocations.bytes();
        call.run();
        call.run();
        return Allocations.bytes() == before;
    }

    /** Ends the thread and waits for it: what it exercises lies in the runner's memory. */
    @Override
    public void close() {
        closed = true;
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The current thread's allocations, as HotSpot counts them; elsewhere they seem to grow, so that the number of calls decides. */
    private static final class Allocations {
        private static final java.lang.management.ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
        private static long uncounted;

        static long bytes() {
            return THREADS instanceof com.sun.management.ThreadMXBean counting
                            && counting.isThreadAllocatedMemoryEnabled()
                    ? counting.getCurrentThreadAllocatedBytes()
                    : uncounted++;
        }
    }
}
