package io.roseinfer.engine;

import java.util.Comparator;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Requests that have a deadline, ordered by it. Any thread. */
final class Deadlines {
    private final NavigableSet<LiveRequest> requests = new ConcurrentSkipListSet<>(
            Comparator.comparingLong(LiveRequest::deadlineNanos).thenComparingLong(LiveRequest::id));

    /** Adds a request; harmless without a deadline. Returns whether its deadline is the earliest. */
    boolean add(LiveRequest request) {
        return request.hasDeadline() && requests.add(request) && nextNanos() == request.deadlineNanos();
    }

    /** Removes a request; harmless if it is not here. */
    void remove(LiveRequest request) {
        if (request.hasDeadline()) {
            requests.remove(request);
        }
    }

    /** Removes the requests whose deadline has passed, and hands each over. */
    void expireUntil(long nowNanos, Consumer<LiveRequest> expired) {
        for (LiveRequest due = first(); due != null && due.deadlineNanos() <= nowNanos; due = first()) {
            if (requests.remove(due)) {
                expired.accept(due);
            }
        }
    }

    /** The earliest deadline; {@link Long#MAX_VALUE} without any. */
    long nextNanos() {
        LiveRequest first = first();
        return first == null ? Long.MAX_VALUE : first.deadlineNanos();
    }

    /** The request with the earliest deadline. Allocates nothing, unless another thread removes the last one just now. */
    @Nullable
    LiveRequest first() {
        try {
            return requests.isEmpty() ? null : requests.first();
        } catch (NoSuchElementException removed) {
            return null;
        }
    }
}
