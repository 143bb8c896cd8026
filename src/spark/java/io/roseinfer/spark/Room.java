package io.roseinfer.spark;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The places for rows in an engine, which its tasks share. A task without a row may always have one; every other place goes to the task that
 * asks first. So the first task has nearly all of them, and when its rows run out the next fills the engine. Tasks with equal shares would
 * end together, and the engine would run empty before others begin.
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
