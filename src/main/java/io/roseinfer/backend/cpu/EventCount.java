package io.roseinfer.backend.cpu;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A counter that threads wait on until it moves. They spin a little, since a phase of a step lasts microseconds, and then park,
 * so that a long wait costs nothing. Allocates nothing after construction.
 */
final class EventCount {
    /** About 50 to 100 microseconds on current x86 processors, whose pause instruction takes 40 to 140 cycles. */
    static final int SPINS = 2000;

    /**
     * About 100 to 500 microseconds if nobody else wants the processor; more than what lies between two steps of a server that
     * has something to do. To wake a thread that has parked takes as long, and longer on a virtual machine.
     */
    private static final int YIELDS = 500;

    /** Between two looks at the clock by who waits for a limited time. */
    private static final long LOOK_NANOS = 50_000_000;

    /** The work of a waiting thread between two looks at the counter; short, and without effect on results. */
    public interface WaitTask {
        WaitTask SPIN = Thread::onSpinWait;

        void run();
    }

    private final int spins;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicReferenceArray<@Nullable Thread> parked;

    /** A signal for {@code waiters} threads, each with a place of its own. */
    EventCount(int waiters, int spins) {
        this.parked = new AtomicReferenceArray<>(waiters);
        this.spins = spins;
    }

    int count() {
        return count.get();
    }

    /** Moves the counter and wakes everybody who waits. */
    void advance() {
        count.incrementAndGet();
        for (int place = 0; place < parked.length(); place++) {
            Thread waiter = parked.get(place);
            if (waiter != null) {
                LockSupport.unpark(waiter);
            }
        }
    }

    /** As above; {@code task} is what it does before it parks. */
    void awaitChange(int seen, int place, WaitTask task) {
        boolean unused = awaitChange(seen, place, task, null);
    }

    /** As above, at most so long, or without a limit; whether the counter has moved. */
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
        // Set before the counter is read again: advance() moves the counter before it looks for waiters, so one of the
        // two sees.
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
