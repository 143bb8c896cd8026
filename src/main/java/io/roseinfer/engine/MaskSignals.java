package io.roseinfer.engine;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Reports of {@link MaskWorkers} to an engine's loop: masks that are ready, and requests that their grammar ends. The
 * workers call {@link #computed}, the loop's thread all other methods.
 */
final class MaskSignals {
    /** Maximum time that a step is delayed for masks, so that their requests are not left out of it. */
    private static final long MAX_WAIT_NANOS = 500_000;

    private final AtomicInteger pending = new AtomicInteger();
    private final Queue<LiveRequest> ended = new ConcurrentLinkedQueue<>();

    /** Number of masks for which no step is delayed any more. */
    private volatile int late;

    private volatile @Nullable Thread waiter;

    /** Counts a mask that a worker will compute. */
    void requested() {
        pending.getAndIncrement();
    }

    /**
     * Reports that a mask is ready, and wakes the loop if that is what it waits for.
     *
     * @param endedRequest the request, if its grammar has ended it instead
     */
    void computed(@Nullable LiveRequest endedRequest) {
        if (endedRequest != null) {
            ended.add(endedRequest);
        }
        boolean isLast = pending.decrementAndGet() <= late;
        Thread waiting = waiter;
        if (isLast && waiting != null) {
            LockSupport.unpark(waiting);
        }
    }

    /** Returns a request that its grammar has ended, or null if there is none. */
    @Nullable
    LiveRequest pollEnded() {
        return ended.poll();
    }

    /** Returns whether masks are being computed or queued. */
    boolean arePending() {
        return pending.get() > 0;
    }

    /**
     * Waits for the pending masks. A late mask is waited for once; then it delays only its own request.
     *
     * @param isIdle whether there is nothing else to do, so that a late mask is worth waiting for
     */
    void await(boolean isIdle) {
        int known = Math.min(late, pending.get());
        late = isIdle ? Math.max(0, known - 1) : known;
        waiter = Thread.currentThread();
        try {
            if (pending.get() > late) {
                LockSupport.parkNanos(this, MAX_WAIT_NANOS);
            }
        } finally {
            waiter = null;
        }
        late = pending.get();
    }
}
