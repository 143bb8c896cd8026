package io.roseinfer.batch;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Finished lines, passed from the engine's threads to the writer's in an intrusive linked list, since the engine must
 * neither wait nor allocate.
 */
final class FinishedLines {
    private final AtomicReference<@Nullable LineInFlight> newest = new AtomicReference<>();
    private volatile @Nullable Thread writer;

    /** Adds a line. May be called by any thread. */
    void push(LineInFlight line) {
        LineInFlight before;
        do {
            before = newest.get();
            line.finishedBefore = before;
        } while (!newest.compareAndSet(before, line));
        wake();
    }

    /** Ends a wait of the writer, or its next one. */
    void wake() {
        LockSupport.unpark(writer);
    }

    /** Makes the calling thread the writer. */
    void claim() {
        writer = Thread.currentThread();
    }

    /** Takes all lines, oldest first. */
    List<LineInFlight> takeAll() {
        if (newest.get() == null) {
            return List.of();
        }
        List<LineInFlight> lines = new ArrayList<>();
        for (LineInFlight line = newest.getAndSet(null); line != null; line = line.finishedBefore) {
            lines.add(line);
        }
        // A line may be added again, and must not keep its predecessors reachable.
        lines.forEach(line -> line.finishedBefore = null);
        Collections.reverse(lines);
        return lines;
    }

    /** Waits for a line, or for a time; may return earlier. */
    void await(long nanos) {
        if (newest.get() == null) {
            LockSupport.parkNanos(this, nanos);
        }
    }
}
