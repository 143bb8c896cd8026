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
 * The threads that parse bodies, render templates and tokenize. They are platform threads, fewer than processors,
 * because a computing virtual thread would block its carrier. Short bodies overtake long ones, but at most one per KiB
 * of the long one. If a client disconnects, its work is dequeued or interrupted.
 */
final class PromptWorkers implements AutoCloseable {
    /** Heap that parsing and tokenizing may use per byte of a body; a JSON list of empty objects uses half of it. */
    private static final int HEAP_PER_BYTE = 64;

    private static final int BYTES_PER_RANK = 1024;

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
     * @param bodyBytes the maximum size of a body
     */
    static int count(int processors, long heapBytes, int bodyBytes) {
        return Math.clamp(heapBytes / ((long) HEAP_PER_BYTE * bodyBytes), 1, Math.max(1, processors - 1));
    }

    /** Work in the queue, ordered by rank. */
    private static final class Task<T> extends FutureTask<T> implements Comparable<Task<?>> {
        private final long rank;

        Task(Callable<T> work, long rank) {
            super(work);
            this.rank = rank;
        }

        @Override
        public int compareTo(Task<?> other) {
            return Long.compare(rank, other.rank);
        }
    }

    /**
     * Runs work on one of these threads, and waits for it.
     *
     * @param whenGone receives the action that cancels the work if the client disconnects
     * @param bytes the size of the body
     * @throws ClientGone if the client has disconnected
     */
    <T> T call(Consumer<Runnable> whenGone, int bytes, Supplier<T> work) {
        Task<T> task = new Task<>(work::get, submitted.getAndIncrement() + bytes / BYTES_PER_RANK);
        threads.execute(task);
        whenGone.accept(() -> cancel(task));
        try {
            return task.get();
        } catch (CancellationException left) {
            throw new ClientGone("the client has disconnected");
        } catch (InterruptedException e) {
            cancel(task);
            Thread.currentThread().interrupt();
            throw new ClientGone("interrupted while reading a prompt");
        } catch (ExecutionException failed) {
            throw unchecked(Objects.requireNonNull(failed.getCause()));
        }
    }

    private static RuntimeException unchecked(Throwable cause) {
        return switch (cause) {
            case CancellationException left -> new ClientGone("the client has disconnected");
            case RuntimeException failure -> failure;
            case Error error -> throw error;
            default -> new IllegalStateException("work on prompts throws nothing checked", cause);
        };
    }

    private void cancel(Task<?> task) {
        boolean unusedCancelled = task.cancel(true);
        boolean unusedRemoved = threads.remove(task);
    }

    /** Returns the number of queued tasks. */
    int waiting() {
        return threads.getQueue().size();
    }

    /** Cancels all work. */
    @Override
    public void close() {
        for (Runnable left : threads.shutdownNow()) {
            boolean unused = ((Task<?>) left).cancel(false);
        }
    }
}
