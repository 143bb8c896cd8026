package io.roseinfer.spark;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The capacity of an engine in rows, which its tasks share. A task without rows may always add one; the rest is first
 * come, first served. So the first task gets nearly all of it, and when its rows run out the next one fills the engine.
 * With equal shares all tasks would end together, and the engine would idle before others begin.
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

    /** Takes some of the capacity, or releases it if negative. */
    void take(int places) {
        taken.addAndGet(places);
    }
}
