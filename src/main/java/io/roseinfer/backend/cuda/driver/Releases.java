package io.roseinfer.backend.cuda.driver;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A stack of a runner's resources: all are released when it closes, or those acquired so far when it fails to load. */
public final class Releases {
    private final Deque<Runnable> releases = new ArrayDeque<>();

    /** Registers how to release a resource; returns the resource. */
    public <T> T add(T acquired, Consumer<? super T> release) {
        releases.push(() -> release.accept(acquired));
        return acquired;
    }

    /** Releases everything, newest first, even after failures; throws the first failure at the end. */
    public void close() {
        RuntimeException failure = null;
        while (!releases.isEmpty()) {
            failure = failureOf(releases.pop(), failure);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable RuntimeException failureOf(Runnable release, @Nullable RuntimeException before) {
        try {
            release.run();
            return before;
        } catch (RuntimeException e) {
            if (before == null) {
                return e;
            }
            before.addSuppressed(e);
            return before;
        }
    }
}
