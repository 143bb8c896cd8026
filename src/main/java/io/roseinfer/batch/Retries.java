package io.roseinfer.batch;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lines whose step failed, which are tried again one at a time. A step that fails takes all its requests with it, the one that made it fail
 * and the others; together they would only fail together again. The writer's alone.
 */
final class Retries {
    private final Consumer<LineInFlight> restart;
    private final Deque<LineInFlight> waiting = new ArrayDeque<>();
    private @Nullable LineInFlight running;

    Retries(Consumer<LineInFlight> restart) {
        this.restart = restart;
    }

    /** Has a line tried again in its turn. */
    void add(LineInFlight line) {
        waiting.add(line);
        settled(line);
    }

    /** Says that a line is no longer in the engine, whether it was tried again or not. */
    void settled(LineInFlight line) {
        if (running == null || running == line) {
            running = waiting.poll();
            if (running != null) {
                restart.accept(running);
            }
        }
    }
}
