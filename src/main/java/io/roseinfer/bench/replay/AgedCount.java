package io.roseinfer.bench.replay;

import java.util.ArrayDeque;

/** A number of events as of some time ago. */
final class AgedCount {
    private final long ageNanos;
    private final ArrayDeque<Long> since = new ArrayDeque<>();
    private long count;

    AgedCount(long ageNanos) {
        this.ageNanos = ageNanos;
    }

    /** Counts an event; times do not decrease from call to call. */
    void add(long nanos) {
        since.addLast(nanos);
        long unused = at(nanos);
    }

    /** Returns how many events a view shows at a time, which does not decrease from call to call. */
    long at(long nanos) {
        while (!since.isEmpty() && since.getFirst() <= nanos - ageNanos) {
            since.removeFirst();
            count++;
        }
        return count;
    }
}
