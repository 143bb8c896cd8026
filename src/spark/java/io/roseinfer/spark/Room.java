package io.roseinfer.spark;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Rows that may be in an engine, shared by its tasks. A task without a row may always have one, and every other place goes to who asks first:
 * so the task that came first has nearly all of them, and when its rows run out the others fill the engine. Tasks with a share each would
 * end together, and the engine would run empty before the next ones begin.
 */
final class Room {
    private final int size;
    private final AtomicInteger taken = new AtomicInteger();

    Room(int size) {
        this.size = size;
    }

    boolean isFull() {
        return taken.get() >= size;
    }

    /** Takes places, or gives them back. */
    void take(int places) {
        taken.addAndGet(places);
    }
}
