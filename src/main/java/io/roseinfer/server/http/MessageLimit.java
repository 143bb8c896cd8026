package io.roseinfer.server.http;

import io.roseinfer.base.Clock;
import java.util.concurrent.TimeUnit;

/** Limits the messages per minute about events that clients can cause at any rate. Thread-safe. */
public final class MessageLimit {
    private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final int max;
    private final Clock clock;
    /** When the first of these messages was logged. */
    private long startNanos;

    private int logged;

    /**
     * Creates a limit.
     *
     * @param max maximum messages per minute
     */
    public MessageLimit(int max, Clock clock) {
        this.max = max;
        this.clock = clock;
    }

    /** Returns whether a message may be logged now, and counts it. */
    public synchronized boolean tryLog() {
        long now = clock.nanos();
        if (logged == 0 || now - startNanos >= INTERVAL_NANOS) {
            startNanos = now;
            logged = 0;
        }
        if (logged == max) {
            return false;
        }
        logged++;
        return true;
    }
}
