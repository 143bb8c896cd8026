package io.roseinfer.batch;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lines whose step failed, which are retried one at a time. A failing step fails all its requests; retried together
 * they would fail together again. Thread-safe.
 *
 * @param <T> a line
 */
public final class Retries<T> {
    private final Consumer<T> restart;
    private final Deque<T> waiting = new ArrayDeque<>();
    private @Nullable T running;

    /**
     * Creates an empty queue.
     *
     * @param restart submits a line again, perhaps later; called with a lock held
     */
    public Retries(Consumer<T> restart) {
        this.restart = restart;
    }

    /** Adds a line, to be retried after those before it. */
    public synchronized void add(T line) {
        waiting.add(line);
        if (running == null) {
            next();
        } else {
            settled(line);
        }
    }

    /** Records that a line has left the engine; if it was being retried, the next one starts. */
    public synchronized void settled(T line) {
        if (line.equals(running)) {
            next();
        }
    }

    /** Removes a line that is no longer needed. */
    public synchronized void remove(T line) {
        waiting.remove(line);
        settled(line);
    }

    private void next() {
        running = waiting.poll();
        if (running != null) {
            restart.accept(running);
        }
    }
}
