package io.roseinfer.engine;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Requests that no engine has yet, and that any of several may take, in the order of arrival. Any thread adds; what is in order here is worked on by one
 * engine's thread at a time, and one that comes meanwhile goes on without: nobody ever waits for another.
 *
 * <p>A request stays its caller's to end until it is taken. One that has ended leaves the queue when an engine works on it next.
 */
final class SharedQueue {
    /** Requests put in order at a time, so that a flood of them cannot hold up the rows that run. */
    private static final int SORTED_AT_ONCE = 1024;

    /** Requests by which an engine may be ahead of its share: one that is slow to come should not keep work from the others. */
    private static final int AHEAD = 8;

    /** Between two looks whether somebody else is through with the queue. */
    private static final long LOOK_NANOS = 1_000;

    private final Consumer<LiveRequest> expire;
    private final Queue<LiveRequest> added = new ConcurrentLinkedQueue<>();
    private final Queue<LiveRequest> returned = new ConcurrentLinkedQueue<>();
    private final Queue<LiveRequest> ended = new ConcurrentLinkedQueue<>();
    private final AtomicInteger size = new AtomicInteger();
    private final AtomicInteger sleepers = new AtomicInteger();
    private final AtomicInteger takers = new AtomicInteger();
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicBoolean owned = new AtomicBoolean();
    private final NavigableSet<LiveRequest> timed = new ConcurrentSkipListSet<>(Deadlines.ORDER);
    // The rest is the owner's.
    private final LinkedHashSet<LiveRequest> waiting = new LinkedHashSet<>();

    /**
     * An empty queue.
     *
     * @param expire ends a request whose deadline has passed, unless somebody else has
     */
    SharedQueue(Consumer<LiveRequest> expire) {
        this.expire = expire;
    }

    /** Whether there is nothing to take. */
    boolean isEmpty() {
        return size.get() <= 0;
    }

    /** Requests there are, those included that have ended and have not left. */
    int size() {
        return Math.max(0, size.get());
    }

    /** Queues a request that has its sequence; any thread. */
    void add(LiveRequest request) {
        // First: who sees nothing here may go away for good.
        size.incrementAndGet();
        added.add(request);
    }

    /** Queues a request before all others, in the order in which they are given back; any thread. */
    void addBack(LiveRequest request) {
        size.incrementAndGet();
        returned.add(request);
    }

    /** Lets a request leave that its caller has ended; any thread. */
    void forget(LiveRequest request) {
        ended.add(request);
    }

    /** One engine more takes requests, or one fewer. */
    void takersChanged(int by) {
        takers.addAndGet(by);
    }

    /** An engine has one request more, from here or not, or one fewer. */
    void takenChanged(int by) {
        taken.addAndGet(by);
    }

    /** An engine goes to sleep, having nothing to do, or wakes. */
    void sleepersChanged(int by) {
        sleepers.addAndGet(by);
    }

    /** Whether an engine sleeps, so that it would take what there is at once. */
    boolean isAwaited() {
        return sleepers.get() > 0;
    }

    /**
     * Watches a request's deadline until an engine takes the request or {@link #unwatch} is called; any thread. Harmless without a
     * deadline. Also for requests that are not in the queue yet.
     *
     * @return whether it is the earliest deadline
     */
    boolean watch(LiveRequest request) {
        return request.hasDeadline() && timed.add(request) && nextDeadlineNanos() == request.deadlineNanos();
    }

    /** Watches a request's deadline no more; any thread. */
    void unwatch(LiveRequest request) {
        if (request.hasDeadline()) {
            timed.remove(request);
        }
    }

    /** Ends the watched requests whose deadline has passed; any thread. */
    void expireUntil(long nowNanos) {
        if (timed.isEmpty()) {
            return;
        }
        for (Iterator<LiveRequest> earliest = timed.iterator(); earliest.hasNext(); ) {
            LiveRequest due = earliest.next();
            if (due.deadlineNanos() > nowNanos) {
                return;
            }
            if (timed.remove(due)) {
                expire.accept(due);
            }
        }
    }

    /** The earliest deadline; {@link Long#MAX_VALUE} without any. */
    long nextDeadlineNanos() {
        Iterator<LiveRequest> earliest = timed.iterator();
        return earliest.hasNext() ? earliest.next().deadlineNanos() : Long.MAX_VALUE;
    }

    /**
     * Gives an engine as many as make its requests a fair share of all there are; or more, up to a fair share of those that wait, as long as that
     * brings it no more than {@value #AHEAD} ahead; and only while it has room for the one that has waited longest. Nothing while another
     * is being given its share.
     */
    void serve(EngineLoop loop) {
        if (!owned.compareAndSet(false, true)) {
            return;
        }
        try {
            sort();
            int engines = Math.max(1, takers.get());
            int behind =
                    Math.ceilDiv(size() + taken.get(), engines) - loop.load().requests();
            give(loop, Math.max(behind, Math.min(Math.ceilDiv(size(), engines), behind + AHEAD)));
        } finally {
            owned.set(false);
        }
    }

    private void give(EngineLoop loop, int most) {
        int given = 0;
        while (given < most && !waiting.isEmpty() && loop.hasRoomFor(waiting.getFirst())) {
            LiveRequest request = waiting.getFirst();
            remove(request);
            if (request.handOver(loop)) {
                unwatch(request);
                loop.take(request);
                given++;
            }
        }
    }

    /** Puts what has come in order, and lets go of what has ended. */
    private void sort() {
        List<LiveRequest> back = new ArrayList<>();
        for (LiveRequest request = returned.poll(); request != null; request = returned.poll()) {
            back.add(request);
        }
        for (LiveRequest request : back.reversed()) {
            waiting.addFirst(request);
            forgetIfEnded(request);
        }
        for (int i = 0; i < SORTED_AT_ONCE; i++) {
            LiveRequest request = added.poll();
            if (request == null) {
                break;
            }
            waiting.add(request);
            forgetIfEnded(request);
        }
        for (LiveRequest over = ended.poll(); over != null; over = ended.poll()) {
            remove(over);
        }
    }

    private void forgetIfEnded(LiveRequest request) {
        if (request.hasEnded()) {
            remove(request);
        }
    }

    private void remove(LiveRequest request) {
        if (waiting.remove(request)) {
            size.decrementAndGet();
        }
    }

    /** Ends all queued requests, which no engine will take. All have ended when this returns. */
    void endAll(Consumer<LiveRequest> end) {
        while (!isEmpty()) {
            if (!owned.compareAndSet(false, true)) {
                LockSupport.parkNanos(this, LOOK_NANOS);
                continue;
            }
            try {
                sort();
                while (!waiting.isEmpty()) {
                    LiveRequest request = waiting.getFirst();
                    end.accept(request);
                    remove(request);
                }
            } finally {
                owned.set(false);
            }
        }
    }
}
