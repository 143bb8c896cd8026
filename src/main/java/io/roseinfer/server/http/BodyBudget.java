package io.roseinfer.server.http;

import io.roseinfer.base.Clock;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory shared by the request bodies of all connections. Half of it is reserved for small bodies, so that large
 * ones cannot starve short requests. Warns at most once a minute of bodies without room. Thread-safe.
 */
final class BodyBudget {
    /** Maximum size of a small body. */
    static final int SMALL_BYTES = 64 << 10;

    private static final System.Logger LOGGER = System.getLogger("io.roseinfer.server");

    private final long limit;
    private final MessageLimit warnings;
    private final AtomicLong reserved = new AtomicLong();

    /**
     * Creates an unused budget.
     *
     * @param limit the bytes of all bodies
     * @param clock the clock for the interval between warnings
     */
    BodyBudget(long limit, Clock clock) {
        this.limit = limit;
        this.warnings = new MessageLimit(1, clock);
    }

    /**
     * Reserves memory for more bytes of a body.
     *
     * @param more the bytes
     * @param size the size of the body with them
     * @return whether there was room; if not, nothing is reserved
     */
    boolean tryReserve(int more, int size) {
        long allowed = size <= SMALL_BYTES ? limit : limit / 2;
        if (reserved.addAndGet(more) <= allowed) {
            return true;
        }
        release(more);
        if (warnings.tryLog()) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    "requests are rejected because bodies in memory would exceed " + limit + " bytes, or those over "
                            + SMALL_BYTES + " bytes half of it; raise -Xmx, or send fewer large requests at a time");
        }
        return false;
    }

    void release(int bytes) {
        reserved.addAndGet(-bytes);
    }

    /** Returns the bytes reserved now. */
    long reserved() {
        return reserved.get();
    }
}
