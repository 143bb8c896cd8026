package io.roseinfer.server.http;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The pumps of one event loop's connections that have bytes to move. The producer, such as an engine with a token for
 * each of hundreds of connections, executes a few instructions per connection and wakes the loop once for all.
 */
final class PumpQueue {
    private final Executor loop;
    private final ByteSink sink = new ByteSink();
    private final AtomicReference<@Nullable Pump> newest = new AtomicReference<>();

    /** Created once, so that the producer allocates nothing here. */
    private final Runnable drain = this::drain;

    private volatile boolean drainScheduled;

    PumpQueue(Executor loop) {
        this.loop = loop;
    }

    /** Returns the loop's buffer, for the running pump. */
    ByteSink sink() {
        return sink;
    }

    /** Schedules a pump; any thread may call it. The pump must not be in the queue. */
    void add(Pump pump) {
        Pump before;
        do {
            before = newest.get();
            pump.queuedBefore = before;
        } while (!newest.compareAndSet(before, pump));
        if (!drainScheduled) {
            scheduleDrain();
        }
    }

    private void scheduleDrain() {
        drainScheduled = true;
        boolean accepted = false;
        try {
            loop.execute(drain);
            accepted = true;
        } finally {
            if (!accepted) {
                // Out of memory: the next pump schedules again. After success, the loop may already have drained, so
                // leave
                // the flag alone.
                drainScheduled = false;
            }
        }
    }

    /** Runs the queued pumps, in order of arrival. */
    private void drain() {
        // Before draining, so that pumps added later scheduleDrain again.
        drainScheduled = false;
        Pump pump = inOrder(newest.getAndSet(null));
        while (pump != null) {
            Pump next = pump.queuedBefore;
            pump.queuedBefore = null;
            pump.dequeued();
            pump = next;
        }
    }

    private static @Nullable Pump inOrder(@Nullable Pump last) {
        Pump first = null;
        Pump pump = last;
        while (pump != null) {
            Pump before = pump.queuedBefore;
            pump.queuedBefore = first;
            first = pump;
            pump = before;
        }
        return first;
    }
}
