package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The requests in flight: accepted and not ended. Counts them, queues them for admission, and ends them. Thread-safe.
 *
 * <p>Each request has exactly one outcome, set by the thread that claims it. While the prompt is tokenized, any thread
 * may claim it. While the request waits, only the thread that removes it from the {@link WaitingQueue} may. After its
 * admission, only the loop that admitted it may.
 */
final class InFlight {
    /** Poll interval of {@link #awaitOutcomes}. */
    private static final long POLL_NANOS = 50_000;

    private final int max;
    private final Clock clock;
    private final RequestObserver observer;
    private final WaitingQueue waitingQueue;
    private final TokenizeWorkers tokenizers;
    private final Runnable onEmpty;

    /** Deadlines of requests that no loop has admitted. */
    private final Deadlines deadlines = new Deadlines();

    private final Consumer<LiveRequest> onDue = this::expire;

    private final AtomicInteger count = new AtomicInteger();

    /** Threads that may have claimed an outcome and not set it yet. */
    private final AtomicInteger claims = new AtomicInteger();

    /** Whether a request was ended because its replica stopped. */
    private volatile boolean hasTerminated;

    /**
     * Creates an empty set.
     *
     * @param max maximum requests in flight
     * @param onEmpty run whenever the last request has ended
     */
    InFlight(
            int max,
            Clock clock,
            RequestObserver observer,
            WaitingQueue waitingQueue,
            TokenizeWorkers tokenizers,
            Runnable onEmpty) {
        this.max = max;
        this.clock = clock;
        this.observer = observer;
        this.waitingQueue = waitingQueue;
        this.tokenizers = tokenizers;
        this.onEmpty = onEmpty;
    }

    WaitingQueue waitingQueue() {
        return waitingQueue;
    }

    int max() {
        return max;
    }

    /** Returns the number of requests in flight. */
    int count() {
        return count.get();
    }

    /** Returns whether a request was ended because its replica stopped. */
    boolean hasTerminated() {
        return hasTerminated;
    }

    /**
     * Reserves a place for a request.
     *
     * @throws Overloaded if the maximum is in flight
     */
    void reserve() {
        int seen = count.get();
        while (seen < max) {
            if (count.compareAndSet(seen, seen + 1)) {
                return;
            }
            seen = count.get();
        }
        throw new Overloaded(
                "too many requests in flight: the maximum is " + max,
                Remedy.of("retry later"),
                Remedy.RAISE_MAX_INFLIGHT_REQUESTS);
    }

    /** Releases a place taken by {@link #reserve}. */
    void release() {
        if (count.decrementAndGet() == 0) {
            onEmpty.run();
        }
    }

    /** Watches the deadline of a request that no loop has admitted; returns whether it is the earliest. */
    boolean watch(LiveRequest request) {
        boolean isEarliest = deadlines.add(request);
        if (request.hasEnded()) {
            deadlines.remove(request);
        }
        return isEarliest;
    }

    /** Stops watching the deadline of a request, which the loop that admits it does from now on. */
    void unwatch(LiveRequest request) {
        deadlines.remove(request);
    }

    /** Ends the watched requests whose deadline has passed. */
    void expireUntil(long nowNanos) {
        deadlines.expireUntil(nowNanos, onDue);
    }

    private void expire(LiveRequest due) {
        boolean unused = endBeforeAdmission(due, RequestOutcome.DEADLINE);
    }

    /** Returns the earliest watched deadline, or {@link Long#MAX_VALUE} if there is none. */
    long nextDeadlineNanos() {
        return deadlines.nextNanos();
    }

    /**
     * Adds a tokenized request to the waiting queue.
     *
     * @param replica the replica that may admit it, or {@link WaitingQueue#ANY}; if that replica has stopped, any may
     * @return false if it has already ended
     */
    boolean enqueue(LiveRequest request, Sequence sequence, int replica) {
        return waitingQueue.locked(() -> {
            boolean isReady = request.setReady(sequence);
            if (isReady) {
                waitingQueue.add(sequence, replica);
                if (sequence.scheduler() == WaitingQueue.ANY) {
                    request.removeLoad();
                }
            }
            return isReady;
        });
    }

    /** Requeues an admitted request that its loop cannot serve. */
    void requeue(LiveRequest request) {
        boolean wasRunning = !request.sequence().orElseThrow().isWaiting();
        waitingQueue.locked(() -> waitingQueue.requeue(request.restart(), wasRunning));
    }

    /** Lets any replica admit the requests bound to one that stops. */
    void unbindAll(int replica) {
        waitingQueue.locked(() -> waitingQueue
                .unbindAll(replica)
                .forEach(sequence -> requestOf(sequence).removeLoad()));
    }

    static LiveRequest requestOf(Sequence sequence) {
        return (LiveRequest) sequence.owner();
    }

    /** Ends a request unless a loop has admitted it or it has ended; returns whether it did. */
    boolean endBeforeAdmission(LiveRequest request, RequestOutcome outcome) {
        claims.incrementAndGet();
        try {
            boolean claimed = claimBeforeAdmission(request);
            if (claimed) {
                tokenizers.remove(request);
                finish(request, outcome, clock.nanos());
            }
            return claimed;
        } finally {
            claims.decrementAndGet();
        }
    }

    private boolean claimBeforeAdmission(LiveRequest request) {
        if (request.claimWhileTokenizing()) {
            return true;
        }
        return waitingQueue.locked(
                () -> request.sequence().filter(waitingQueue::remove).isPresent() && request.claimOutcome());
    }

    /**
     * Ends a request unless it has ended. Only the thread entitled to claim the outcome may call this, see
     * {@link InFlight}.
     */
    void end(LiveRequest request, RequestOutcome outcome, long nanos) {
        claims.incrementAndGet();
        try {
            if (request.claimOutcome()) {
                finish(request, outcome, nanos);
            }
        } finally {
            claims.decrementAndGet();
        }
    }

    /**
     * Ends a request because its engine stops, unless it has ended. Only the thread entitled to claim the outcome may
     * call this.
     */
    void terminate(LiveRequest request, RequestOutcome outcome) {
        terminate(request, outcome, LiveRequest::claimOutcome);
    }

    /**
     * Ends a request because its engine stops, while it is being tokenized or waits for that. Any thread may call this.
     */
    void terminateTokenizing(LiveRequest request, RequestOutcome outcome) {
        terminate(request, outcome, LiveRequest::claimWhileTokenizing);
    }

    private void terminate(LiveRequest request, RequestOutcome outcome, Predicate<LiveRequest> claim) {
        claims.incrementAndGet();
        try {
            if (claim.test(request)) {
                hasTerminated = true;
                finishRegardless(request, outcome);
            }
        } finally {
            claims.decrementAndGet();
        }
    }

    /** Ends a request even if an observer throws: the engine stops anyway, and its other requests must end, too. */
    private void finishRegardless(LiveRequest request, RequestOutcome outcome) {
        try {
            finish(request, outcome, clock.nanos());
        } catch (RuntimeException unused) {
            // The request has ended.
        }
    }

    /** Ends all waiting requests because their engine stops. */
    void terminateWaiting(RequestOutcome outcome) {
        claims.incrementAndGet();
        try {
            waitingQueue.drain().forEach(sequence -> terminate(requestOf(sequence), outcome));
        } finally {
            claims.decrementAndGet();
        }
    }

    /**
     * Ends a request. The load and the count are updated first: an observer that is notified may submit the next request
     * immediately. Observers are notified before the reader, so that a reader finds its request counted.
     */
    private void finish(LiveRequest request, RequestOutcome outcome, long nanos) {
        request.removeLoad();
        deadlines.remove(request);
        release();
        request.finish(outcome, nanos);
        try {
            observer.on(new RequestEvent.Ended(request, outcome.reason()));
        } finally {
            request.end();
        }
    }

    /** Discards a request without a reader, unless a loop has admitted it or it has ended; returns whether it did. */
    boolean discard(LiveRequest request) {
        boolean claimed = claimBeforeAdmission(request);
        if (claimed) {
            request.removeLoad();
            deadlines.remove(request);
            release();
            observer.on(new RequestEvent.Withdrawn(request));
        }
        return claimed;
    }

    /** Waits until other threads have set the outcomes they have claimed. */
    void awaitOutcomes(long limitNanos) {
        long startNanos = clock.nanos();
        while (claims.get() > 0 && clock.nanos() - startNanos < limitNanos) {
            LockSupport.parkNanos(this, POLL_NANOS);
        }
    }
}
