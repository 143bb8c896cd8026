package io.roseinfer.engine;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The requests that were accepted and have not ended: counts them, has them wait, and ends them. Any thread.
 *
 * <p>Each has one ending, by whoever claims it: while its prompt is tokenized any thread, while it waits the thread that takes it out of
 * the {@link WaitingQueue}, and afterwards the loop that admitted it.
 */
final class InFlight {
    /** How long {@link #awaitEndings} waits between two looks. An ending takes less, unless an observer is slow. */
    private static final long ENDING_NANOS = 50_000;

    private final int most;
    private final Clock clock;
    private final RequestObserver observer;
    private final WaitingQueue waitingQueue;
    private final TokenizeWorkers tokenizers;
    private final Runnable onNone;

    /** The deadlines of requests that no loop has admitted. */
    private final Deadlines deadlines = new Deadlines();

    private final Consumer<LiveRequest> onDue = this::expire;

    private final AtomicInteger count = new AtomicInteger();

    /** Threads that may have claimed an ending and are not done with it. */
    private final AtomicInteger ending = new AtomicInteger();

    /** Whether a request was ended because a replica ended. */
    private volatile boolean hasCut;

    /**
     * No requests yet.
     *
     * @param most how many there may be at a time
     * @param onNone is run whenever the last of them has ended
     */
    InFlight(
            int most,
            Clock clock,
            RequestObserver observer,
            WaitingQueue waitingQueue,
            TokenizeWorkers tokenizers,
            Runnable onNone) {
        this.most = most;
        this.clock = clock;
        this.observer = observer;
        this.waitingQueue = waitingQueue;
        this.tokenizers = tokenizers;
        this.onNone = onNone;
    }

    WaitingQueue waitingQueue() {
        return waitingQueue;
    }

    int most() {
        return most;
    }

    /** Requests counted in that have not ended. */
    int count() {
        return count.get();
    }

    /** Whether a request was ended because a replica ended. */
    boolean hasCut() {
        return hasCut;
    }

    /**
     * Counts a request in.
     *
     * @throws Overloaded if as many are in flight as there may be
     */
    void reserve() {
        int seen = count.get();
        while (seen < most) {
            if (count.compareAndSet(seen, seen + 1)) {
                return;
            }
            seen = count.get();
        }
        throw new Overloaded("too many requests in flight: " + most
                + " is the most (max_inflight_requests); try again when one has ended");
    }

    /** Gives back what {@link #reserve} counted. */
    void unreserve() {
        if (count.decrementAndGet() == 0) {
            onNone.run();
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

    /** Leaves the deadline of a request to the loop that admits it. */
    void unwatch(LiveRequest request) {
        deadlines.remove(request);
    }

    /** Ends the watched requests whose deadline has passed. */
    void expireUntil(long nowNanos) {
        deadlines.expireUntil(nowNanos, onDue);
    }

    private void expire(LiveRequest due) {
        boolean unused = endEarly(due, Ending.DEADLINE);
    }

    /** The earliest watched deadline; {@link Long#MAX_VALUE} without any. */
    long nextDeadlineNanos() {
        return deadlines.nextNanos();
    }

    /**
     * Has a request wait whose prompt has been tokenized.
     *
     * @param engine the one that may admit it, or {@link WaitingQueue#ANY}; any may if that one has stopped
     * @return false if it has ended before
     */
    boolean enter(LiveRequest request, Sequence sequence, int engine) {
        synchronized (waitingQueue) {
            if (!request.ready(sequence)) {
                return false;
            }
            waitingQueue.add(sequence, engine);
            if (sequence.scheduler() == WaitingQueue.ANY) {
                request.discharge();
            }
            return true;
        }
    }

    /** Has a request wait again that the loop which admitted it cannot serve, as if it had never been admitted. */
    void enterAgain(LiveRequest request) {
        synchronized (waitingQueue) {
            waitingQueue.requeue(request.readyAgain());
        }
    }

    /** Lets any engine admit what waits for one that stops. */
    void leave(int engine) {
        synchronized (waitingQueue) {
            for (Sequence sequence : waitingQueue.unbindAll(engine)) {
                requestOf(sequence).discharge();
            }
        }
    }

    static LiveRequest requestOf(Sequence sequence) {
        return (LiveRequest) sequence.owner();
    }

    /** Ends a request unless a loop has admitted it or it has ended; returns whether it did. */
    boolean endEarly(LiveRequest request, Ending why) {
        ending.incrementAndGet();
        try {
            boolean claimed = claimEarly(request);
            if (claimed) {
                tokenizers.remove(request);
                conclude(request, why, clock.nanos());
            }
            return claimed;
        } finally {
            ending.decrementAndGet();
        }
    }

    private boolean claimEarly(LiveRequest request) {
        if (request.claimWhileTokenizing()) {
            return true;
        }
        synchronized (waitingQueue) {
            return request.sequence().filter(waitingQueue::remove).isPresent() && request.claimEnding();
        }
    }

    /** Ends a request unless it has ended; for a thread that may, as {@link InFlight} says. */
    void end(LiveRequest request, Ending why, long nanos) {
        ending.incrementAndGet();
        try {
            if (request.claimEnding()) {
                conclude(request, why, nanos);
            }
        } finally {
            ending.decrementAndGet();
        }
    }

    /** Ends a request unless it has ended, because its engine ends; for a thread that may, as {@link InFlight} says. */
    void cut(LiveRequest request, Ending why) {
        cut(request, why, LiveRequest::claimEnding);
    }

    /** Ends a request, because its engine ends, while its prompt is tokenized or waits for that. Any thread. */
    void cutTokenizing(LiveRequest request, Ending why) {
        cut(request, why, LiveRequest::claimWhileTokenizing);
    }

    private void cut(LiveRequest request, Ending why, Predicate<LiveRequest> claim) {
        ending.incrementAndGet();
        try {
            if (claim.test(request)) {
                hasCut = true;
                conclude(request, why, clock.nanos());
            }
        } finally {
            ending.decrementAndGet();
        }
    }

    /** Ends all requests that wait for a loop, because their engine ends. */
    void cutWaiting(Ending why) {
        ending.incrementAndGet();
        try {
            waitingQueue.drain().forEach(sequence -> cut(requestOf(sequence), why));
        } finally {
            ending.decrementAndGet();
        }
    }

    /** In this order: who learns of the ending may submit the next request at once, and look at the load. */
    private void conclude(LiveRequest request, Ending why, long nanos) {
        request.discharge();
        deadlines.remove(request);
        unreserve();
        if (request.end(why, nanos)) {
            observer.ended(request, why.reason());
        }
    }

    /** Forgets a request without a reader unless a loop has admitted it or it has ended; returns whether it did. */
    boolean discard(LiveRequest request) {
        boolean claimed = claimEarly(request);
        if (claimed) {
            request.discharge();
            deadlines.remove(request);
            unreserve();
            observer.withdrawn(request);
        }
        return claimed;
    }

    /** Waits until other threads are done with the endings that they have claimed. */
    void awaitEndings(long limitNanos) {
        long startNanos = clock.nanos();
        while (ending.get() > 0 && clock.nanos() - startNanos < limitNanos) {
            LockSupport.parkNanos(this, ENDING_NANOS);
        }
    }
}
