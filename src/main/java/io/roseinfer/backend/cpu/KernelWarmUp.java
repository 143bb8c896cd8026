package io.roseinfer.backend.cpu;

import io.roseinfer.backend.cpu.kernel.Kernels;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Warms up kernels before steps use them. Vector code is hundreds of times slower until C2 has compiled it; scalar code is not, and all
 * kinds are bit-identical. So a runner starts on the first kind of a list and switches to the next once a separate thread has run it
 * until it is compiled.
 *
 * <p>Compiled means that two calls in a row allocate nothing: uncompiled vector operations allocate every vector.
 *
 * <p>Warm-up is lazy unless requested: scalar kernels finish a few tokens of a small model before vector kernels are compiled. It starts
 * once the steps' work justifies it. A step that would take longer on scalar kernels than the compilation waits for it, once and for a
 * limited time.
 */
final class KernelWarmUp implements AutoCloseable {
    /** Operations on scalar kernels before warm-up starts by itself: some tenths of a second. */
    private static final long START_FLOPS = 1_000_000_000;

    /** Operations of a step that would take longer on scalar kernels than the compilation. */
    private static final long WAIT_FLOPS = 4_000_000_000L;

    /** Maximum wait of a step: with C2 off or busy, compilation may never finish. */
    private static final long MAX_WAIT_NANOS = 10_000_000_000L;

    /** Maximum calls of a loop, which is then used even if not compiled; C2 compiles after some thousands. */
    private static final int MAX_CALLS = 100_000;

    private static final String NAME = "roseinfer-warm-up";

    private final List<Kernels.Factory> kinds;
    private final KernelWarmUpCases cases;
    private final long maxWaitNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition advanced = lock.newCondition();
    private final Thread thread = Thread.ofPlatform().daemon().name(NAME).unstarted(this::run);
    private volatile int ready;
    private volatile boolean ended;
    private volatile boolean closed;
    private final AtomicBoolean started = new AtomicBoolean();
    /** Operations of all steps so far. */
    private long served;

    private boolean hasWaited;

    /** Creates a warm-up for kinds of kernels, from one that needs none to the fastest. */
    KernelWarmUp(List<Kernels.Factory> kinds, KernelWarmUpCases cases) {
        this(kinds, cases, MAX_WAIT_NANOS);
    }

    /** Creates a warm-up that a step waits for up to {@code maxWaitNanos}. */
    KernelWarmUp(List<Kernels.Factory> kinds, KernelWarmUpCases cases, long maxWaitNanos) {
        this.kinds = List.copyOf(kinds);
        this.cases = cases;
        this.maxWaitNanos = maxWaitNanos;
    }

    /** Returns the kind of kernels for a step of {@code flops} operations; called by the submitting thread. */
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
            await(1, maxWaitNanos);
        }
        return ready;
    }

    /**
     * Starts the warm-up if needed. Waits up to {@code maxNanos} for the first vector kind, and up to {@code fastestNanos} in total for the
     * fastest. Returns whether the fastest is compiled.
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

    /** Waits for a kind; returns the unused time. */
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
            // The current kernels stay in use.
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
     * Interleaves the calls, so that C2 compiles one loop while the next is counted. At the end all are checked again: a call may look
     * compiled in OSR code only, or be deoptimized by another call.
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

    /** Ends the thread and waits for it, since it uses the runner's memory. */
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

    /** Allocated bytes of the current thread on HotSpot; on other JVMs a growing count, so that the number of calls decides. */
    private static final class Allocations {
        private static final java.lang.management.ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
        private static final AtomicLong UNCOUNTED = new AtomicLong();

        static long bytes() {
            return THREADS instanceof com.sun.management.ThreadMXBean counting
                            && counting.isThreadAllocatedMemoryEnabled()
                    ? counting.getCurrentThreadAllocatedBytes()
                    : UNCOUNTED.getAndIncrement();
        }
    }
}
