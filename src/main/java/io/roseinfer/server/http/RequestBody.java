package io.roseinfer.server.http;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The bytes of a request's body, and their reservation in the server's memory budget. Thread-safe. */
public final class RequestBody {
    private final BodyBudget budget;
    private final int size;
    private byte @Nullable [] bytes;
    private boolean released;

    RequestBody(BodyBudget budget, byte[] bytes) {
        this.budget = budget;
        this.size = bytes.length;
        this.bytes = bytes;
    }

    /** Returns the number of bytes. */
    public int size() {
        return size;
    }

    /**
     * Returns the bytes and drops the reference to them, so that they can be collected while the request is served.
     * They stay reserved.
     *
     * @throws NullPointerException if they were taken before
     */
    public synchronized byte[] take() {
        byte[] taken = Objects.requireNonNull(bytes, "the body has been taken");
        bytes = null;
        return taken;
    }

    /** Ends the reservation, once nothing of the body's size is in memory. May be called more than once. */
    public synchronized void release() {
        bytes = null;
        if (!released) {
            released = true;
            budget.release(size);
        }
    }
}
