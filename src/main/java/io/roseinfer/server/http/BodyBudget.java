package io.roseinfer.server.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory shared by the request bodies of all connections. Half of it is reserved for small bodies, so that large
 * ones cannot starve short requests.
 */
final class BodyBudget {
    /** Maximum size of a small body. */
    static final int SMALL_BYTES = 64 << 10;

    private final long limit;
    private final AtomicLong reserved = new AtomicLong();

    BodyBudget(long limit) {
        this.limit = limit;
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
