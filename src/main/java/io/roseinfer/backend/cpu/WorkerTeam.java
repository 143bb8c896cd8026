package io.roseinfer.backend.cpu;

import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.ThreadLocation;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A fixed thread team with barriers and work stealing: each worker has a static share of a phase's items, and steals from others once
 * its own are done. So results must not depend on which worker computes an item.
 *
 * <p>Worker 0 is the thread that awaits the job: it needs no wake-up at either end, and leaves no core idle or contended.
 */
final class WorkerTeam implements AutoCloseable {

    /** A job that every worker runs once. */
    public interface Job {
        /** Runs the part of worker {@code 0 <= worker < size()}; {@link WorkerTeam#barrier} is called by all or by none. */
        void run(int worker);

        /** Returns what a worker does while it waits for the next job. */
        default EventCount.WaitTask waitTask(int worker) {
            return EventCount.WaitTask.SPIN;
        }
    }

    /** Unwinds a worker after another has failed. */
    private static final class Abandoned extends RuntimeException {
        @SuppressWarnings("StaticAssignmentOfThrowable") // it has no stack trace, and a step allocates nothing
        static final Abandoned INSTANCE = new Abandoned();

        private Abandoned() {
            super("another worker failed", null, false, false);
        }
    }

    /** Integers per cache line. */
    private static final int LINE = 16;

    /** No item is left. */
    public static final int NONE = -1;

    private final int size;
    /** Workers 1 and up. */
    private final Thread[] threads;

    private final EventCount start;
    private final EventCount barrier;
    private final EventCount done = new EventCount(1, EventCount.SPINS);
    private final AtomicInteger arrived = new AtomicInteger();
    /** Claimed items of each worker's share in this phase; one cache line each. */
    private final AtomicIntegerArray claimed;

    private final AtomicInteger running = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile @Nullable Job job;
    private volatile boolean closed;
    /** The start count that ends the threads. */
    private volatile int lastStart;

    private int doneBefore;
    /** Whether part 0 of the job has started. */
    private volatile boolean joined = true;

    private @Nullable StallLimit limit;
    /** Set after a stall; no other job runs then. */
    private volatile boolean stalled;

    public WorkerTeam(int size) {
        this.size = size;
        threads = new Thread[size - 1];
        start = new EventCount(size, EventCount.SPINS);
        barrier = new EventCount(size, EventCount.SPINS);
        claimed = new AtomicIntegerArray((size + 1) * LINE);
        for (int i = 0; i < threads.length; i++) {
            int worker = i + 1;
            threads[i] =
                    Thread.ofPlatform().daemon().name("roseinfer-cpu-" + worker).unstarted(() -> serve(worker));
        }
        for (Thread thread : threads) {
            thread.start();
        }
    }

    public int size() {
        return size;
    }

    /**
     * Makes later jobs fail if worker 0 waits for the others longer than the limit. Without a limit, a job that reads files may take any
     * time. Worker 0 itself, the calling thread, is not monitored.
     */
    public void setStallLimit(StallLimit value) {
        limit = value;
    }

    /** Returns the first of {@code items} in a worker's share; the next worker's share follows. */
    public int share(int items, int worker) {
        return (int) ((long) items * worker / size);
    }

    /**
     * Claims an item of the current phase: the next in the worker's own share of {@code items}, else in another's, else {@link #NONE}.
     * All claims between two barriers must pass the same {@code items}.
     */
    public int claim(int items, int worker) {
        for (int i = 0; i < size; i++) {
            int owner = (worker + i) % size;
            int first = share(items, owner);
            int count = share(items, owner + 1) - first;
            int place = (owner + 1) * LINE;
            if (claimed.get(place) < count) {
                int item = claimed.getAndIncrement(place);
                if (item < count) {
                    return first + item;
                }
            }
        }
        return NONE;
    }

    private void unclaim() {
        for (int owner = 0; owner < size; owner++) {
            claimed.set((owner + 1) * LINE, 0);
        }
    }

    /**
     * Starts a job on all workers but 0 and returns; {@link #await} must follow before the next.
     *
     * @throws DeviceFailure if an earlier job stalled
     */
    public void submit(Job next) {
        Check.that(!closed, "a job was given to a closed worker team");
        if (stalled) {
            throw new DeviceFailure(
                    "the cpu runs no further step: a worker of an earlier one has not come back; load the model again",
                    false);
        }
        Check.that(running.get() == 0, "a job was given to a busy worker team");
        failure.set(null);
        arrived.set(0);
        unclaim();
        running.set(size);
        doneBefore = done.count();
        joined = false;
        job = next;
        start.advance();
    }

    /**
     * Runs part 0 of the job and waits for the other parts; rethrows a worker's exception.
     *
     * @throws DeviceFailure if the job stalled; a worker may still run it, so nothing that it uses may be freed before {@link #isOver}
     */
    public void await() {
        finish();
        switch (failure.get()) {
            case null -> {}
            case RuntimeException exception -> throw exception;
            case Error error -> throw error;
            case Throwable other -> throw new IllegalStateException(other);
        }
    }

    private void finish() {
        Job current = job;
        if (current != null && !joined) {
            joined = true;
            work(current, 0);
            if (!stalled && !done.awaitChange(doneBefore, 0, current.waitTask(0), limit)) {
                failure.compareAndSet(null, stall());
            }
        }
    }

    /** Returns the failure for workers that have not returned. */
    private DeviceFailure stall() {
        stalled = true;
        String missing = Arrays.stream(threads)
                .filter(thread -> !isWaiting(thread))
                .map(ThreadLocation::of)
                .collect(Collectors.joining("; "));
        long seconds = TimeUnit.NANOSECONDS.toSeconds(limit == null ? 0 : limit.nanos());
        return new DeviceFailure(
                "a step on the cpu has come no further for " + seconds + " s: "
                        + (missing.isEmpty() ? "a worker did not wake up" : missing)
                        + "; the model's memory stays allocated because that thread may still use it; look whether the machine"
                        + " swaps or a debugger holds the thread, and load the model again in another process",
                false);
    }

    /** Returns whether a thread waits on an event count, as all idle workers do. */
    private static boolean isWaiting(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(EventCount.class.getName()));
    }

    /** Runs a job to its end. */
    public void run(Job next) {
        submit(next);
        await();
    }

    /** Waits for all workers of the job; everything written before is then visible to all. */
    public void barrier(int worker) {
        barrier(worker, EventCount.WaitTask.SPIN);
    }

    /** Waits for all workers; {@code task} runs while a worker waits. */
    public void barrier(int worker, EventCount.WaitTask task) {
        if (failure.get() != null) {
            throw Abandoned.INSTANCE;
        }
        int round = barrier.count();
        if (arrived.incrementAndGet() == size) {
            arrived.set(0);
            unclaim();
            barrier.advance();
        } else if (!barrier.awaitChange(round, worker, task, worker == 0 ? limit : null)) {
            throw stall();
        }
        if (failure.get() != null) {
            throw Abandoned.INSTANCE;
        }
    }

    private void serve(int worker) {
        int seen = 0;
        EventCount.WaitTask task = EventCount.WaitTask.SPIN;
        while (true) {
            start.awaitChange(seen, worker, task);
            seen++;
            Job current = job;
            if (current == null || (closed && seen == lastStart)) {
                return;
            }
            work(current, worker);
            task = current.waitTask(worker);
        }
    }

    private void work(Job current, int worker) {
        try {
            current.run(worker);
        } catch (Throwable thrown) {
            if (thrown != Abandoned.INSTANCE && failure.compareAndSet(null, thrown)) {
                barrier.advance();
            }
        }
        if (running.decrementAndGet() == 0) {
            done.advance();
        }
    }

    /**
     * Finishes a running job, ends the threads and waits for them; does not wait if a worker stalled or worker 0 runs in another thread.
     * Idempotent.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        finish();
        // A worker that has not started a running job yet still does, or the job would never end.
        lastStart = start.count() + 1;
        closed = true;
        start.advance();
        if (running.get() > 0) {
            // Releases the workers at the barrier.
            failure.compareAndSet(null, Abandoned.INSTANCE);
            barrier.advance();
            return;
        }
        boolean interrupted = false;
        for (Thread thread : threads) {
            interrupted |= join(thread);
        }
        job = null;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether all threads of a closed team have ended and no job runs, so that the jobs' memory may be freed. */
    public boolean isOver() {
        return running.get() == 0 && Arrays.stream(threads).noneMatch(Thread::isAlive);
    }

    /** Joins a thread uninterruptibly; returns whether an interrupt occurred. */
    private static boolean join(Thread thread) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }
}
