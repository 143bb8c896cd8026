package io.roseinfer.engine;

import java.util.Comparator;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The requests with a deadline, ordered by it. Thread-safe. */
final class Deadlines {
    private final NavigableSet<LiveRequest> requests = new ConcurrentSkipListSet<>(
            Comparator.comparingLong(LiveRequest::deadlineNanos).thenComparingLong(LiveRequest::id));

    /** Adds a request, if it has a deadline; returns whether that is the earliest. */
    boolean add(LiveRequest request) {
        return request.hasDeadline() && requests.add(request) && nextNanos() == request.expiryNanos();
    }

    /** Removes a request, if present. */
    void remove(LiveRequest request) {
        if (request.hasDeadline()) {
            requests.remove(request);
        }
    }

    /** Removes the requests whose deadline has passed and passes each to {@code expired}. */
    void expireUntil(long nowNanos, Consumer<LiveRequest> expired) {
        for (LiveRequest due = first(); due != null && due.expiryNanos() <= nowNanos; due = first()) {
            if (requests.remove(due)) {
                expired.accept(due);
            }
        }
    }

    /** Returns the earliest deadline, or {@link Long#MAX_VALUE} if there is none. */
    long nextNanos() {
        LiveRequest first = first();
        return first == null ? Long.MAX_VALUE : first.expiryNanos();
    }

    /**
     * Returns the request with the earliest deadline. Allocates only if another thread concurrently removes the last
     * one.
     */
    @Nullable
    LiveRequest first() {
        try {
            return requests.isEmpty() ? null : requests.first();
        } catch (NoSuchElementException removed) {
            return null;
        }
    }
}
