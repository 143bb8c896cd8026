package io.roseinfer.backend.cpu;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A counter whose waiters spin briefly, since phases last microseconds, then yield, then park. Allocates nothing after construction.
 */
final class EventCount {
    /** About 50 to 100 microseconds on current x86 processors, whose pause instruction takes 40 to 140 cycles. */
    static final int SPINS = 2000;

    /**
     * About 100 to 500 microseconds on an idle core, more than the gap between two steps of a busy server. Waking a parked thread takes as
     * long, and longer on a virtual machine.
     */
    private static final int YIELDS = 500;

    /** Time between clock reads of a limited wait. */
    private static final long LOOK_NANOS = 50_000_000;

    /** Work of a waiting thread between polls of the counter; short, and without effect on results. */
    public interface WaitTask {
        WaitTask SPIN = Thread::onSpinWait;

        void run();
    }

    private final int spins;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicReferenceArray<@Nullable Thread> parked;

    /** Creates a counter for {@code waiters} threads, each with its own index. */
    EventCount(int waiters, int spins) {
        this.parked = new AtomicReferenceArray<>(waiters);
        this.spins = spins;
    }

    int count() {
        return count.get();
    }

    /** Increments the counter and wakes all waiters. */
    void advance() {
        count.incrementAndGet();
        for (int place = 0; place < parked.length(); place++) {
            Thread waiter = parked.get(place);
            if (waiter != null) {
                LockSupport.unpark(waiter);
            }
        }
    }

    /** Waits until the counter differs from {@code seen}; {@code task} runs before parking. */
    void awaitChange(int seen, int place, WaitTask task) {
        boolean unused = awaitChange(seen, place, task, null);
    }

    /** Waits with an optional limit; returns whether the counter has changed. */
    @SuppressWarnings("ThreadPriorityCheck") // yielding only saves time; the thread parks in the end
    boolean awaitChange(int seen, int place, WaitTask task, @Nullable StallLimit limit) {
        for (int i = 0; i < spins; i++) {
            if (count.get() != seen) {
                return true;
            }
            task.run();
        }
        for (int i = 0; i < YIELDS; i++) {
            if (count.get() != seen) {
                return true;
            }
            Thread.yield();
        }
        return parkUntilChange(seen, place, limit);
    }

    private boolean parkUntilChange(int seen, int place, @Nullable StallLimit limit) {
        long startNanos = limit == null ? 0 : limit.clock().nanos();
        boolean isOver = false;
        boolean interrupted = false;
        // Set before the counter is read again: advance() increments it before it looks for waiters, so one side sees
        // the other.
        parked.set(place, Thread.currentThread());
        while (count.get() == seen && !isOver) {
            if (limit == null) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, LOOK_NANOS);
                isOver = limit.clock().nanos() - startNanos >= limit.nanos();
            }
            interrupted |= Thread.interrupted();
        }
        parked.set(place, null);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return count.get() != seen;
    }
}
