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
 * A fixed team of threads that run the same job together and meet between phases, with work stealing: each worker has a share of a
 * phase's items, given by arithmetic, and one that has finished its own claims from another's. So results must not depend on who
 * computes an item.
 *
 * <p>Worker 0 is the thread that waits for the job: it need not be woken, nor wake anybody when the job is done, and takes no
 * processor from the others meanwhile.
 */
final class WorkerTeam implements AutoCloseable {

    /** Work for the whole team; every worker runs it once. */
    public interface Job {
        /** Does the part of worker {@code 0 <= worker < size()}; {@link WorkerTeam#barrier} is called by all or by none. */
        void run(int worker);

        /** The pause of a worker whose part is done, until the next job. */
        default EventCount.WaitTask waitTask(int worker) {
            return EventCount.WaitTask.SPIN;
        }
    }

    /** Leaves a job that another worker has failed. */
    private static final class Abandoned extends RuntimeException {
        @SuppressWarnings("StaticAssignmentOfThrowable") // it has no stack trace, and a step allocates nothing
        static final Abandoned INSTANCE = new Abandoned();

        private Abandoned() {
            super("another worker failed", null, false, false);
        }
    }

    /** A cache line of integers. */
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
    /** Per worker, how many items of its share of this phase have been claimed; a cache line apart. */
    private final AtomicIntegerArray claimed;

    private final AtomicInteger running = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile @Nullable Job job;
    private volatile boolean closed;
    /** The start that is for no job but tells the threads to end. */
    private volatile int lastStart;

    private int doneBefore;
    /** Whether part 0 of the job has been run, or begun. */
    private volatile boolean joined = true;

    private @Nullable StallLimit limit;
    /** Set when worker 0 has given the others up; no other job is run then. */
    private volatile boolean stalled;

    public WorkerTeam(int size) {
        this.size = size;
        threads = new Thread[size - 1];
        start = new EventCount(size, EventCount.SPINS);
        barrier = new EventCount(size, EventCount.SPINS);
        claimed = new AtomicIntegerArray((size + 1) * LINE);
        for (int i = 0; i < threads.length; i++) {
            int worker = i + 1;
            threads[i] = Thread.ofPlatform().daemon().name("rose-cpu-" + worker).unstarted(() -> serve(worker));
        }
        for (Thread thread : threads) {
            thread.start();
        }
    }

    public int size() {
        return size;
    }

    /**
     * Has jobs fail from now on if worker 0 waits for the others longer than that. A job without a limit, such as one that reads a file,
     * may take any time. Nothing looks after worker 0 itself, the thread that runs the job.
     */
    public void setStallLimit(StallLimit value) {
        limit = value;
    }

    /** First of the {@code items} that belong to {@code worker}; those of the next worker begin where its own end. */
    public int share(int items, int worker) {
        return (int) ((long) items * worker / size);
    }

    /**
     * Takes an item of the phase that lasts until the next meeting: the next of the worker's own share of {@code items}, else of
     * another's, else {@link #NONE}. All claims of one phase name the same number of items.
     */
    public int claim(int items, int worker) {
        for (int turn = 0; turn < size; turn++) {
            int owner = (worker + turn) % size;
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
     * @throws DeviceFailure if a worker was given up in an earlier job
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
     * Runs part 0 of the job and waits for the other parts; throws the exception that made a worker fail.
     *
     * @throws DeviceFailure if a worker was given up; it may still be at work on the job, so nothing that the job uses may be freed
     *     before {@link #isOver}
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

    /** Gives up the workers that have not come back. */
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

    /** Whether a thread waits for a signal of this team, as all do that are not at work. */
    private static boolean isWaiting(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(EventCount.class.getName()));
    }

    /** Runs a job to its end. */
    public void run(Job next) {
        submit(next);
        await();
    }

    /** Waits until all workers of the job are here; everything they wrote before is then visible to all. */
    public void barrier(int worker) {
        barrier(worker, EventCount.WaitTask.SPIN);
    }

    /** As above; {@code task} is what a worker does while it waits. */
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
     * Lets a running job finish, ends the threads and waits for them, unless a worker was given up or worker 0 is at work in another
     * thread: then it waits for nobody. Does nothing the second time.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        finish();
        // A worker that has not begun a running job yet does so still, or that job would never be over.
        lastStart = start.count() + 1;
        closed = true;
        start.advance();
        if (running.get() > 0) {
            // Those who wait for the missing one leave the job.
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

    /** Whether all threads have ended and no job is being run, so that what the jobs used may be freed; of a closed team. */
    public boolean isOver() {
        return running.get() == 0 && Arrays.stream(threads).noneMatch(Thread::isAlive);
    }

    /** Waits for a thread however often it is interrupted meanwhile; tells whether it was. */
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
