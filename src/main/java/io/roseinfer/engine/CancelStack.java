package io.roseinfer.engine;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Requests whose callers want no more of them, from any thread to one. Linked through the requests, so that cancelling succeeds
 * where there is no memory left; a request enters once in its life, however often it is closed.
 */
final class CancelStack {
    private final AtomicReference<@Nullable LiveRequest> top = new AtomicReference<>();

    boolean isEmpty() {
        return top.get() == null;
    }

    /** Notes that a request is cancelled; any thread, any number of times. */
    void push(LiveRequest request) {
        if (!request.cancel()) {
            return;
        }
        LiveRequest below;
        do {
            below = top.get();
            request.cancelledBefore = below;
        } while (!top.compareAndSet(below, request));
    }

    /** Takes all there are: the newest, which leads to those before it by {@link LiveRequest#cancelledBefore}. */
    @Nullable
    LiveRequest takeAll() {
        return top.get() == null ? null : top.getAndSet(null);
    }
}
