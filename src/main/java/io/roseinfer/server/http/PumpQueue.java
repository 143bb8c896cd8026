package io.roseinfer.server.http;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The pumps of one event loop's connections that have something to move. Who makes the bytes, an engine that has a token for each of
 * hundreds of connections, pays a few instructions for each of them and wakes the loop once for all.
 */
final class PumpQueue {
    private final Executor loop;
    private final ByteSink sink = new ByteSink();
    private final AtomicReference<@Nullable Pump> newest = new AtomicReference<>();

    /** Made once: who makes the bytes allocates nothing here. */
    private final Runnable drain = this::drain;

    private volatile boolean rung;

    PumpQueue(Executor loop) {
        this.loop = loop;
    }

    /** The loop's own buffer, for the pump that runs. */
    ByteSink sink() {
        return sink;
    }

    /** Has a pump run soon; any thread. It must not be in the queue. */
    void add(Pump pump) {
        Pump before;
        do {
            before = newest.get();
            pump.queuedBefore = before;
        } while (!newest.compareAndSet(before, pump));
        if (!rung) {
            ring();
        }
    }

    private void ring() {
        rung = true;
        boolean heard = false;
        try {
            loop.execute(drain);
            heard = true;
        } finally {
            if (!heard) {
                // For want of memory; the next pump rings again. Otherwise the loop may have answered by now.
                rung = false;
            }
        }
    }

    /** Runs those that there are, in the order in which they came. */
    private void drain() {
        // First: whom this does not find rings again.
        rung = false;
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
