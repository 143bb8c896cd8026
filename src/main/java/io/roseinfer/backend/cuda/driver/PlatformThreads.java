package io.roseinfer.backend.cuda.driver;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * Runs work that must stay on one OS thread, which owns the driver's current context: loading and closing a model block on files and
 * locks, where a virtual thread may change its carrier.
 */
public final class PlatformThreads {
    private PlatformThreads() {}

    /** Runs the work, on a new platform thread if the caller is a virtual thread; an interrupt does not stop it. */
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

    /** Returns the supplier's exception, which is unchecked. */
    private static RuntimeException unchecked(ExecutionException failed) {
        if (failed.getCause() instanceof Error error) {
            throw error;
        }
        return failed.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(failed);
    }
}
