package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A loop with its own waiting queue, run by hand. */
final class LoneLoop {
    private final ModelRunner runner;
    private final InFlight inFlight;
    private final EngineLoop loop;
    private final AtomicInteger submitted = new AtomicInteger();

    LoneLoop(ModelRunner runner, EngineOptions options, Clock clock, Observers observers) {
        this.runner = runner;
        this.inFlight = new InFlight(
                Integer.MAX_VALUE,
                clock,
                observers.requests(),
                new WaitingQueue(1, options.scheduler().policies()),
                new TokenizeWorkers(0, request -> {}),
                () -> {});
        this.loop = new EngineLoop(0, runner, options, clock, observers, false, inFlight);
    }

    EngineLoop loop() {
        return loop;
    }

    InFlight inFlight() {
        return inFlight;
    }

    /** Queues a request for the loop; ends it if the loop has ended. */
    void submit(LiveRequest request, int[] prompt) {
        inFlight.reserve();
        submitted.incrementAndGet();
        inFlight.watch(request);
        Require.that(
                inFlight.enqueue(request, request.newSequence(prompt, runner.spec()), 0),
                "request %d has ended before it was submitted",
                request.id());
    }

    /** Cancels a request, as its stream does. */
    void cancel(LiveRequest request) {
        request.cancel();
        if (!inFlight.endBeforeAdmission(request, RequestOutcome.CANCELLED)) {
            loop.cancel(request);
        }
    }

    /** Returns the number of requests that have ended. */
    int endedCount() {
        return submitted.get() - inFlight.count();
    }

    boolean hasWork() {
        return loop.hasWork();
    }

    void doWork() {
        loop.doWork(Integer.MAX_VALUE);
    }

    EngineStats stats() {
        return loop.stats();
    }

    void quiesce() {
        loop.quiesce();
    }

    void endAll(RequestOutcome outcome) {
        loop.endAll(outcome);
        inFlight.terminateWaiting(outcome);
    }

    void check() {
        loop.check();
    }

    void checkIdle() {
        loop.checkIdle();
    }
}
