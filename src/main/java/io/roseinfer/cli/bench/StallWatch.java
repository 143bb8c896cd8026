package io.roseinfer.cli.bench;

import io.roseinfer.base.ThreadLocation;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Warns where a simulation is if no step ends for a while, as with a policy that does not return. */
final class StallWatch implements StepObserver, AutoCloseable {
    private final Thread simulating = Thread.currentThread();
    private final AtomicLong steps = new AtomicLong();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Duration patience;
    private final Consumer<String> warning;
    private long stepsBefore;

    StallWatch(Duration patience, Consumer<String> warning) {
        this.patience = patience;
        this.warning = warning;
    }

    /** Starts watching the calling thread, which runs the simulation, until it is closed. */
    static StallWatch start(Duration patience, Consumer<String> warning) {
        StallWatch watch = new StallWatch(patience, warning);
        Thread.ofPlatform().daemon().name("stall-watch").start(watch::watch);
        return watch;
    }

    @Override
    public void on(StepEvent event, StepRecord step) {
        if (event == StepEvent.APPLIED) {
            steps.setRelease(steps.getPlain() + 1);
        }
    }

    private void watch() {
        try {
            while (!closed.await(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                if (hasStalled()) {
                    warning.accept("no step has ended for " + patience.toSeconds() + " s; the simulation is in "
                            + ThreadLocation.frame(simulating) + "; Ctrl-C ends it");
                    return;
                }
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether no step has ended since the last call, or the start. */
    boolean hasStalled() {
        long before = stepsBefore;
        stepsBefore = steps.getAcquire();
        return stepsBefore == before;
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
