package io.roseinfer.spark;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.batch.Retries;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one task in the engine, returned in order of completion. One thread submits and takes; any other thread
 * may close or wake.
 *
 * <p>The engine's thread pushes a finished row on a lock-free stack, so it neither waits nor allocates.
 */
final class InFlight<T> implements AutoCloseable {
    /** Maximum attempts for a row if a device or a replica fails. */
    private static final int MAX_ATTEMPTS = 3;

    /** The time between two attempts to submit to a full engine. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /**
     * A finished row.
     *
     * @param completions one per request of the row, in order; none if it has failed
     */
    record Ended<T>(T row, List<Completion> completions, Optional<RoseException> failure) {}

    private static final class Entry<T> {
        private final T row;
        private final List<GenerationRequest> requests;
        private final AtomicInteger running = new AtomicInteger();
        private List<TokenStream> streams = List.of();
        private int attempts;

        /** Pushes the entry on the stack, to be resubmitted by the task's thread. */
        private final Runnable retry;

        private volatile boolean retryDue;

        /** The entry that finished before this one, while both are on the stack. */
        private @Nullable Entry<T> below;

        private Entry(T row, List<GenerationRequest> requests, Consumer<Entry<T>> push) {
            this.row = row;
            this.requests = requests;
            this.retry = () -> {
                retryDue = true;
                push.accept(this);
            };
        }
    }

    private final Engine engine;
    private final Room room;
    private final Retries<Runnable> retries;
    private final Runnable check;
    private final Set<TokenStream> open = ConcurrentHashMap.newKeySet();

    /** The entries of this task in {@code retries}. */
    private final Set<Runnable> retrying = ConcurrentHashMap.newKeySet();

    /** Rows that have finished, or are due to be retried, and not been read; the newest is on top. */
    private final AtomicReference<@Nullable Entry<T>> stack = new AtomicReference<>();

    /** Rows taken off the stack, the oldest first. */
    private final Deque<Entry<T>> ended = new ArrayDeque<>();

    private int rows;
    private volatile boolean closed;
    private volatile @Nullable Thread waiting;

    /**
     * Creates an instance without rows.
     *
     * @param room of this task, or shared by all tasks of the engine
     * @param retries shared by all tasks of the engine, because a step may have rows of several
     * @param check called before each wait and after each wake-up; throws if the task should stop
     */
    InFlight(Engine engine, Room room, Retries<Runnable> retries, Runnable check) {
        this.engine = engine;
        this.room = room;
        this.retries = retries;
        this.check = check;
    }

    boolean isFull() {
        return rows > 0 && room.isFull();
    }

    boolean isEmpty() {
        return rows == 0;
    }

    /**
     * Submits a row, waiting until the engine accepts it.
     *
     * @throws RoseException.BadInput if the engine rejects one of its requests; the row is not in flight then
     */
    void submit(T row, List<GenerationRequest> requests) {
        start(new Entry<>(row, requests, this::push));
        count(1);
    }

    private synchronized void count(int more) {
        if (!closed) {
            rows += more;
            room.take(more);
        }
    }

    private void start(Entry<T> entry) {
        entry.attempts++;
        List<TokenStream> streams = new ArrayList<>();
        try {
            for (GenerationRequest request : entry.requests) {
                streams.add(submitted(request));
            }
        } catch (RuntimeException e) {
            streams.forEach(this::release);
            throw e;
        }
        entry.streams = streams;
        // One more than the streams, so that a row cannot finish before the last of them has its listener.
        entry.running.set(streams.size() + 1);
        streams.forEach(stream -> listen(stream, entry));
        oneLess(entry);
    }

    private void listen(TokenStream stream, Entry<T> entry) {
        AtomicBoolean counted = new AtomicBoolean();
        stream.onDelivery(() -> {
            if (stream.finishReason().isPresent() && !counted.getAndSet(true)) {
                oneLess(entry);
            }
        });
    }

    private void oneLess(Entry<T> entry) {
        if (entry.running.decrementAndGet() == 0) {
            push(entry);
        }
    }

    private TokenStream submitted(GenerationRequest request) {
        while (true) {
            check();
            try {
                TokenStream stream = engine.submit(request);
                open.add(stream);
                if (closed) {
                    release(stream);
                }
                return stream;
            } catch (Overloaded full) {
                LockSupport.parkNanos(this, RETRY_NANOS);
            }
        }
    }

    private void release(TokenStream stream) {
        stream.close();
        open.remove(stream);
    }

    private void push(Entry<T> entry) {
        Entry<T> top;
        do {
            top = stack.get();
            entry.below = top;
        } while (!stack.compareAndSet(top, entry));
        wake();
    }

    /** Makes the waiting thread check whether it should stop. */
    void wake() {
        Thread thread = waiting;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * Waits for the next finished row.
     *
     * @throws EngineStopped if the engine was closed or has failed: then its rows are not reliable
     */
    Ended<T> take() {
        while (true) {
            Entry<T> entry = next();
            if (entry.retryDue) {
                entry.retryDue = false;
                start(entry);
                continue;
            }
            entry.streams.forEach(open::remove);
            Optional<Ended<T>> result = result(entry);
            if (result.isPresent()) {
                if (retrying.remove(entry.retry)) {
                    retries.settled(entry.retry);
                }
                count(-1);
                return result.get();
            }
        }
    }

    /** Resubmits a row once no other row of the engine is being retried. */
    private void retry(Entry<T> entry) {
        retrying.add(entry.retry);
        retries.add(entry.retry);
        if (closed) {
            retries.remove(entry.retry);
        }
    }

    private Entry<T> next() {
        waiting = Thread.currentThread();
        try {
            while (true) {
                if (ended.isEmpty()) {
                    takeStack();
                }
                Entry<T> entry = ended.poll();
                if (entry != null) {
                    return entry;
                }
                check();
                if (stack.get() == null) {
                    LockSupport.park(this);
                }
            }
        } finally {
            waiting = null;
        }
    }

    private void takeStack() {
        for (Entry<T> entry = stack.getAndSet(null); entry != null; entry = entry.below) {
            ended.push(entry);
        }
    }

    private void check() {
        if (closed) {
            throw new IllegalStateException("the task has completed, so its rows were cancelled");
        }
        check.run();
    }

    /** Returns the result of an entry; empty if the row is resubmitted. */
    private Optional<Ended<T>> result(Entry<T> entry) {
        try {
            List<Completion> completions = new ArrayList<>();
            for (TokenStream stream : entry.streams) {
                completions.add(whole(stream.completion()));
            }
            return Optional.of(new Ended<>(entry.row, completions, Optional.empty()));
        } catch (EngineStopped dead) {
            throw dead;
        } catch (RoseException failure) {
            if (entry.attempts < MAX_ATTEMPTS && failure instanceof DeviceFailure) {
                retry(entry);
                return Optional.empty();
            }
            if (entry.attempts < MAX_ATTEMPTS && failure instanceof ReplicaStopped) {
                start(entry);
                return Optional.empty();
            }
            return Optional.of(new Ended<>(entry.row, List.of(), Optional.of(failure)));
        }
    }

    /** Throws for a cancelled completion: while its row is awaited, only the closing of the engine can cancel it. */
    private Completion whole(Completion completion) {
        if (completion.finishReason() == FinishReason.CANCELLED) {
            check();
            throw new EngineStopped(
                    "the engine was closed while it had rows of this task; the next attempt opens a new one");
        }
        return completion;
    }

    /** Cancels all rows, which releases their KV blocks. */
    @Override
    public void close() {
        leaveRoom();
        open.forEach(TokenStream::close);
        retrying.forEach(retries::remove);
        wake();
    }

    private synchronized void leaveRoom() {
        if (!closed) {
            closed = true;
            room.take(-rows);
        }
    }
}
