package io.roseinfer.backend.cpu;

import io.roseinfer.base.Check;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A fixed team of threads that run the same job together, each on the part its number gives it, and meet between phases. There
 * is no queue and no stealing: who does what is decided by arithmetic, so results cannot depend on timing.
 */
final class WorkerTeam implements AutoCloseable {

    /** Work for the whole team; every worker runs it once. */
    interface Job {
        /** Does the part of worker {@code 0 <= worker < size()}; {@link WorkerTeam#meet} is called by all or by none. */
        void run(int worker);
    }

    /** Leaves a job that another worker has failed. */
    private static final class Abandoned extends RuntimeException {
        @SuppressWarnings("StaticAssignmentOfThrowable") // it has no stack trace, and a step allocates nothing
        static final Abandoned INSTANCE = new Abandoned();

        private Abandoned() {
            super("another worker failed", null, false, false);
        }
    }

    private final Thread[] threads;
    private final Signal start;
    private final Signal meeting;
    private final Signal done = new Signal(1, Signal.SPINS / 10);
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile @Nullable Job job;
    private volatile boolean closed;
    private int doneBefore;

    WorkerTeam(int size) {
        threads = new Thread[size];
        start = new Signal(size, Signal.SPINS);
        meeting = new Signal(size, Signal.SPINS);
        for (int i = 0; i < size; i++) {
            int worker = i;
            threads[i] = Thread.ofPlatform().daemon().name("rose-cpu-" + i).unstarted(() -> serve(worker));
        }
        for (Thread thread : threads) {
            thread.start();
        }
    }

    int size() {
        return threads.length;
    }

    /** First of the {@code items} that belong to {@code worker}; those of the next worker begin where its own end. */
    int share(int items, int worker) {
        return (int) ((long) items * worker / threads.length);
    }

    /** Starts a job and returns; {@link #await} must follow before the next. */
    void submit(Job next) {
        Check.that(!closed, "a job was given to a closed worker team");
        Check.that(running.get() == 0, "a job was given to a busy worker team");
        failure.set(null);
        arrived.set(0);
        running.set(threads.length);
        doneBefore = done.count();
        job = next;
        start.advance();
    }

    /** Waits for the job; what made a worker fail is thrown here. */
    void await() {
        done.awaitChange(doneBefore, 0);
        switch (failure.get()) {
            case null -> {}
            case RuntimeException exception -> throw exception;
            case Error error -> throw error;
            case Throwable other -> throw new IllegalStateException(other);
        }
    }

    /** Runs a job to its end. */
    void run(Job next) {
        submit(next);
        await();
    }

    /** Waits until all workers of the job are here; everything they wrote before is then visible to all. */
    void meet(int worker) {
        if (failure.get() != null) {
            throw Abandoned.INSTANCE;
        }
        int round = meeting.count();
        if (arrived.incrementAndGet() == threads.length) {
            arrived.set(0);
            meeting.advance();
        } else {
            meeting.awaitChange(round, worker);
        }
        if (failure.get() != null) {
            throw Abandoned.INSTANCE;
        }
    }

    private void serve(int worker) {
        int seen = 0;
        while (true) {
            start.awaitChange(seen, worker);
            seen++;
            Job current = job;
            if (closed || current == null) {
                return;
            }
            work(current, worker);
        }
    }

    private void work(Job current, int worker) {
        try {
            current.run(worker);
        } catch (Throwable thrown) {
            if (thrown != Abandoned.INSTANCE && failure.compareAndSet(null, thrown)) {
                meeting.advance();
            }
        }
        if (running.decrementAndGet() == 0) {
            done.advance();
        }
    }

    /** Lets a running job finish, ends the threads and waits for them. Does nothing the second time. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (running.get() > 0) {
            done.awaitChange(doneBefore, 0);
        }
        closed = true;
        job = null;
        start.advance();
        boolean interrupted = false;
        for (Thread thread : threads) {
            interrupted |= join(thread);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
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
