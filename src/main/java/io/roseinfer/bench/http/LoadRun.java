package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import io.roseinfer.bench.Pacer;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.metrics.StepRecord.Fact;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Offers a load once. The caller's thread sends each request when it is due, whatever has become of those before. */
public final class LoadRun {
    /** No bound on requests in flight. */
    public static final int UNBOUNDED = Integer.MAX_VALUE;

    private static final long LOOK_MILLIS = 100;
    private static final long LOOK_NANOS = 1_000_000 * LOOK_MILLIS;

    private final Target target;
    private final int maxConcurrency;
    private final Duration silence;
    private final Clock clock;
    private final Pacer pacer;
    private final Semaphore slots;

    /**
     * A run that can be made once or more often, one after the other.
     *
     * @param maxConcurrency most requests in flight; those that are due wait for a place
     * @param silence how long nothing may come from the other side while it owes answers
     */
    public LoadRun(Target target, int maxConcurrency, Duration silence, Clock clock, Pacer pacer) {
        this.target = target;
        this.maxConcurrency = maxConcurrency;
        this.silence = silence;
        this.clock = clock;
        this.pacer = pacer;
        this.slots = new Semaphore(maxConcurrency);
    }

    /**
     * Offers the load and returns when every request has ended. An interrupt ends the run: requests in flight fail, and the result has those
     * that were sent; the thread stays interrupted.
     */
    public LoadResult run(OfferedLoad load) {
        return run(load, () -> {});
    }

    /**
     * As {@link #run(OfferedLoad)}, and tells of every request that has ended.
     *
     * @param afterEach is called by the thread that saw the end, whose other requests wait meanwhile
     */
    public LoadResult run(OfferedLoad load, Runnable afterEach) {
        List<OfferedRequest> requests = load.requests();
        target.prepare(requests, maxConcurrency);
        List<Call> calls = new ArrayList<>();
        for (int id = 0; id < requests.size(); id++) {
            calls.add(new Call(id, requests.get(id)));
        }
        CountDownLatch running = new CountDownLatch(calls.size());
        AtomicLong open = new AtomicLong(calls.size());
        Consumer<Call> ended = call -> {
            open.decrementAndGet();
            slots.release();
            afterEach.run();
            running.countDown();
        };
        // What a warm-up and preparing have left, garbage and hot code: otherwise it is copied and compiled in the run,
        // and requests that are due wait for that.
        System.gc();
        Compilers.awaitStill(clock);
        ClientCost before = ClientCost.now();
        Heartbeat heartbeat = Heartbeat.start(clock);
        long startNanos = clock.nanos();
        int sent = sendAll(calls, load.isScheduled(), startNanos, ended);
        long unanswered = awaitAll(running, calls.size() - sent, open);
        long endNanos = clock.nanos();
        ClientCost cost = ClientCost.now().since(before, heartbeat.stop());
        boolean interrupted = Thread.interrupted();
        calls.subList(sent, calls.size()).clear();
        target.join(calls);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return new LoadResult(
                startNanos,
                endNanos,
                load.isScheduled(),
                calls.stream().map(CallResult::of).toList(),
                cost,
                Oddities.of(calls, target.openedLate(), unanswered),
                target.steps().stream()
                        .filter(step -> step.get(Fact.START_NANOS) >= startNanos)
                        .toList());
    }

    /** Returns how many it has sent: all, unless the thread was interrupted. */
    private int sendAll(List<Call> calls, boolean scheduled, long startNanos, Consumer<Call> ended) {
        long heldUntilNanos = startNanos;
        for (Call call : calls) {
            if (scheduled) {
                awaitDue(
                        call.id == 0 ? startNanos : calls.get(call.id - 1).dueNanos,
                        startNanos + call.request.dueNanos());
            }
            if (!Thread.currentThread().isInterrupted() && !slots.tryAcquire()) {
                awaitSlot();
                heldUntilNanos = clock.nanos();
            }
            if (Thread.currentThread().isInterrupted()) {
                return call.id;
            }
            call.dueNanos = scheduled ? startNanos + call.request.dueNanos() : clock.nanos();
            call.readyNanos = Math.max(call.dueNanos, heldUntilNanos);
            target.send(call, ended);
        }
        return calls.size();
    }

    /** Waits in short pieces, since an interrupt does not shorten a pacer's wait. */
    private void awaitDue(long fromNanos, long dueNanos) {
        long until = fromNanos;
        while (until < dueNanos && !Thread.currentThread().isInterrupted()) {
            until = Math.min(dueNanos, until + LOOK_NANOS);
            pacer.awaitUntil(until);
        }
    }

    private void awaitSlot() {
        await(() -> slots.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS));
    }

    /** Returns how many requests were not sent or still running when the thread was interrupted. */
    private long awaitAll(CountDownLatch running, int unsent, AtomicLong open) {
        for (int i = 0; i < unsent; i++) {
            running.countDown();
        }
        await(() -> running.await(LOOK_MILLIS, TimeUnit.MILLISECONDS));
        if (!Thread.interrupted()) {
            return 0;
        }
        long unanswered = open.get();
        target.abort("interrupted");
        await(() -> running.await(LOOK_MILLIS, TimeUnit.MILLISECONDS));
        Thread.currentThread().interrupt();
        return unanswered;
    }

    /** Waits a while for something; true when it has come. */
    @FunctionalInterface
    private interface Look {
        boolean look() throws InterruptedException;
    }

    private void await(Look look) {
        long startNanos = clock.nanos();
        try {
            while (!look.look()) {
                long quietNanos = clock.nanos() - Math.max(startNanos, target.lastArrivalNanos());
                if (quietNanos > silence.toNanos()) {
                    target.abort("nothing came for " + silence.toSeconds() + " s");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
