package io.roseinfer.server;

import io.roseinfer.server.http.Response.ClientGone;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The threads that parse bodies, render templates and tokenize: platform threads, and fewer than processors, because a virtual thread
 * that computes keeps all others from its carrier. Short bodies pass long ones, but at most one for each KiB that the long one has. A
 * client that leaves takes its work with it: out of the queue, or by an interrupt.
 */
final class PromptWorkers implements AutoCloseable {
    /** Heap that parsing and tokenizing may take for each byte of a body: a JSON list of empty objects takes half of it. */
    private static final int HEAP_PER_BYTE = 64;

    private static final int BYTES_PER_PLACE = 1024;

    private final ThreadPoolExecutor threads;
    private final AtomicLong submitted = new AtomicLong();

    PromptWorkers(int count) {
        threads = new ThreadPoolExecutor(
                count,
                count,
                0,
                TimeUnit.SECONDS,
                new PriorityBlockingQueue<>(),
                Thread.ofPlatform().name("roseinfer-prompts-", 0).daemon().factory());
    }

    /**
     * Returns the number of threads for a machine.
     *
     * @param bodyBytes the largest body
     */
    static int count(int processors, long heapBytes, int bodyBytes) {
        return Math.clamp(heapBytes / ((long) HEAP_PER_BYTE * bodyBytes), 1, Math.max(1, processors - 1));
    }

    /** Work in the queue, first the one of the lowest place. */
    private static final class Task<T> extends FutureTask<T> implements Comparable<Task<?>> {
        private final long place;

        Task(Callable<T> work, long place) {
            super(work);
            this.place = place;
        }

        @Override
        public int compareTo(Task<?> other) {
            return Long.compare(place, other.place);
        }
    }

    /**
     * Does work on a thread of these, and waits for it.
     *
     * @param whenGone takes what ends the work if the client leaves
     * @param bytes the size of the body that it is done on
     * @throws ClientGone if the client has left
     */
    <T> T call(Consumer<Runnable> whenGone, int bytes, Supplier<T> work) {
        Task<T> task = new Task<>(work::get, submitted.getAndIncrement() + bytes / BYTES_PER_PLACE);
        threads.execute(task);
        whenGone.accept(() -> cancel(task));
        try {
            return task.get();
        } catch (CancellationException left) {
            throw new ClientGone("the client has left");
        } catch (InterruptedException e) {
            cancel(task);
            Thread.currentThread().interrupt();
            throw new ClientGone("interrupted while a prompt was read");
        } catch (ExecutionException failed) {
            throw unchecked(Objects.requireNonNull(failed.getCause()));
        }
    }

    private static RuntimeException unchecked(Throwable cause) {
        return switch (cause) {
            case CancellationException left -> new ClientGone("the client has left");
            case RuntimeException failure -> failure;
            case Error error -> throw error;
            default -> new IllegalStateException("work on prompts throws nothing checked", cause);
        };
    }

    private void cancel(Task<?> task) {
        boolean unusedCancelled = task.cancel(true);
        boolean unusedRemoved = threads.remove(task);
    }

    /** Returns the work that waits for a thread. */
    int waiting() {
        return threads.getQueue().size();
    }

    /** Ends all work. */
    @Override
    public void close() {
        for (Runnable left : threads.shutdownNow()) {
            boolean unused = ((Task<?>) left).cancel(false);
        }
    }
}
