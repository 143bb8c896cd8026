package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import io.roseinfer.bench.Pacer;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.metrics.StepRecord.Fact;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Offers a load once. The caller's thread sends each request when it is due, whatever has become of those before. */
public final class LoadRun {
    /** No bound on requests in flight. */
    public static final int UNBOUNDED = Integer.MAX_VALUE;

    private static final long LOOK_MILLIS = 100;

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

    /** Offers the load and returns when every request has ended. */
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
        Consumer<Call> ended = call -> {
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
        sendAll(calls, load.isScheduled(), startNanos, ended);
        awaitAll(running);
        long endNanos = clock.nanos();
        ClientCost cost = ClientCost.now().since(before, heartbeat.stop());
        target.join(calls);
        return new LoadResult(
                startNanos,
                endNanos,
                load.isScheduled(),
                calls.stream().map(CallResult::of).toList(),
                cost,
                Oddities.of(calls, target.openedLate()),
                target.steps().stream()
                        .filter(step -> step.get(Fact.START_NANOS) >= startNanos)
                        .toList());
    }

    private void sendAll(List<Call> calls, boolean scheduled, long startNanos, Consumer<Call> ended) {
        long heldUntilNanos = startNanos;
        for (Call call : calls) {
            if (scheduled) {
                pacer.awaitUntil(startNanos + call.request.dueNanos());
            }
            if (!slots.tryAcquire()) {
                awaitSlot();
                heldUntilNanos = clock.nanos();
            }
            call.dueNanos = scheduled ? startNanos + call.request.dueNanos() : clock.nanos();
            call.readyNanos = Math.max(call.dueNanos, heldUntilNanos);
            target.send(call, ended);
        }
    }

    private void awaitSlot() {
        await(() -> slots.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS));
    }

    private void awaitAll(CountDownLatch running) {
        await(() -> running.await(LOOK_MILLIS, TimeUnit.MILLISECONDS));
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
            target.abort("interrupted");
            throw new CancellationException("interrupted while requests were running; they were ended");
        }
    }
}
