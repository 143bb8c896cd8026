package io.roseinfer.engine;

import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The requests that have a deadline, ordered by it. */
final class Deadlines {
    /** The earliest first. */
    static final Comparator<LiveRequest> ORDER =
            Comparator.comparingLong(LiveRequest::deadlineNanos).thenComparingLong(LiveRequest::id);

    private final TreeSet<LiveRequest> requests = new TreeSet<>(ORDER);

    /** The request with the earliest deadline. */
    @Nullable
    LiveRequest first() {
        return requests.isEmpty() ? null : requests.first();
    }

    /** Adds a request; harmless without a deadline. */
    void add(LiveRequest request) {
        if (request.hasDeadline()) {
            requests.add(request);
        }
    }

    /** Removes a request; harmless if it is not here. */
    void remove(LiveRequest request) {
        if (request.hasDeadline()) {
            requests.remove(request);
        }
    }
}
