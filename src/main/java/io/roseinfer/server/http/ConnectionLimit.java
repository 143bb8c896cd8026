package io.roseinfer.server.http;

import io.roseinfer.base.Clock;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the open connections of a server and limits them. A fixed number beyond the maximum is accepted for probes
 * only, so that a busy server still serves them. Thread-safe.
 */
final class ConnectionLimit {
    /** Connections beyond the maximum, for probes. */
    static final int RESERVE = 64;

    private static final System.Logger LOGGER = System.getLogger("io.roseinfer.server");

    private final int max;
    private final AtomicInteger regular = new AtomicInteger();
    private final AtomicInteger reserved = new AtomicInteger();
    private final LongAdder rejected = new LongAdder();
    private final MessageLimit warnings;

    /** The treatment of a new connection. */
    enum Admission {
        /** It may send any request. */
        REGULAR,
        /** It may send one request, for a probe. */
        RESERVED,
        /** It is closed at once. */
        REJECTED
    }

    /**
     * Creates a limit without connections.
     *
     * @param max maximum connections with any request
     * @param clock the clock for the interval between warnings
     */
    ConnectionLimit(int max, Clock clock) {
        this.max = max;
        this.warnings = new MessageLimit(1, clock);
    }

    /** Counts a new connection unless it is rejected. */
    Admission admit() {
        if (tryAdd(regular, max)) {
            return Admission.REGULAR;
        }
        return tryAdd(reserved, RESERVE) ? Admission.RESERVED : Admission.REJECTED;
    }

    private static boolean tryAdd(AtomicInteger count, int limit) {
        return count.getAndUpdate(now -> now < limit ? now + 1 : now) < limit;
    }

    /** Counts a connection as closed. */
    void closed(Admission admission) {
        switch (admission) {
            case REGULAR -> regular.decrementAndGet();
            case RESERVED -> reserved.decrementAndGet();
            case REJECTED -> {}
        }
    }

    /** Counts a connection beyond the maximum that was served no probe; warns at most once a minute. */
    void rejected() {
        rejected.increment();
        if (warnings.tryLog()) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "connections are rejected because max_connections (" + max
                            + ") are open; raise it, or let clients reuse connections");
        }
    }

    /** Returns the number of open connections, including those for probes. */
    int open() {
        return regular.get() + reserved.get();
    }

    /** Returns the number of rejected connections since the start. */
    long rejectedCount() {
        return rejected.sum();
    }
}
