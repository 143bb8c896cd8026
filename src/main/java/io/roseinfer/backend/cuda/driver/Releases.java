package io.roseinfer.backend.cuda.driver;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a runner has to give back, in the order it was acquired: all of it when it closes, or as far as it got when it fails to
 * load.
 */
public final class Releases {
    private final Deque<Runnable> releases = new ArrayDeque<>();

    /** Notes how something is given back that was just acquired; returns it. */
    public <T> T add(T acquired, Consumer<? super T> release) {
        releases.push(() -> release.accept(acquired));
        return acquired;
    }

    /** Gives everything back, newest first. One that throws keeps none of the others; the first failure comes out at the end. */
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
