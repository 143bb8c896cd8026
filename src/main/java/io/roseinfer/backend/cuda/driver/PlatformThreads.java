package io.roseinfer.backend.cuda.driver;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * Runs what must not change its thread of the operating system half-way, because the driver's current context belongs to that
 * thread: loading and closing a model wait for files and locks, where a virtual thread may be moved to another.
 */
public final class PlatformThreads {
    private PlatformThreads() {}

    /** Runs it here, or on a platform thread of its own if the caller is a virtual one; an interrupt does not cut it short. */
    public static <T> T call(Supplier<T> work) {
        if (!Thread.currentThread().isVirtual()) {
            return work.get();
        }
        FutureTask<T> task = new FutureTask<>(work::get);
        Thread.ofPlatform().daemon().name("roseinfer-cuda").start(task);
        return await(task);
    }

    private static <T> T await(FutureTask<T> task) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw unchecked(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The supplier's exception, unchecked: a supplier cannot throw any other. */
    private static RuntimeException unchecked(ExecutionException failed) {
        if (failed.getCause() instanceof Error error) {
            throw error;
        }
        return failed.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failed);
    }
}
