package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.Printable;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.base.ThreadLocation;
import io.roseinfer.observe.Observers;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An engine loop with its own thread and device. The thread is parked while there is no work.
 *
 * <p>Before the thread ends, it ends the replica's requests, or requeues them for other replicas. An
 * {@link OutOfMemoryError} is a failure like any other; requests that cannot be ended for lack of memory are ended by
 * {@link SchedulerManager#close}.
 */
final class Replica implements IdleReplicas.Sleeper {
    private static final System.Logger LOGGER = System.getLogger("io.roseinfer.engine");

    /** Maximum time between clock checks while waiting for the worker. */
    private static final long POLL_NANOS = 10_000_000;

    private final SchedulerManager manager;
    private final InFlight inFlight;
    private final EngineLoop loop;
    private final Clock clock;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread worker;
    private volatile boolean parked;
    private boolean hasStoppedServing;

    /** The outcome of its requests that are not requeued. */
    private volatile @Nullable RequestOutcome failureOutcome;

    /**
     * Creates a replica whose worker has not been started.
     *
     * @param index the replica's number
     * @param observers notified of its steps, and of its requests from their admission on
     */
    Replica(
            SchedulerManager manager,
            int index,
            ModelRunner runner,
            EngineOptions options,
            Clock clock,
            Observers observers) {
        this.manager = manager;
        this.clock = clock;
        this.inFlight = manager.inFlight();
        this.loop = new EngineLoop(index, runner, options, clock, observers, manager.usesPrefixes(), inFlight);
        String name = index == 0 ? "roseinfer-engine" : "roseinfer-engine-" + index;
        this.worker = Thread.ofPlatform().name(name).daemon().unstarted(() -> DeliveryThread.run(this::run));
    }

    void start() {
        worker.start();
    }

    EngineLoop loop() {
        return loop;
    }

    int index() {
        return loop.load().index();
    }

    /** Returns the failure of the replica; empty while it serves or after it was closed. */
    Optional<RequestOutcome> failureOutcome() {
        return Optional.ofNullable(failureOutcome);
    }

    @Override
    public boolean isParked() {
        return parked;
    }

    @Override
    public boolean wake() {
        boolean wasParked = parked;
        if (wasParked) {
            LockSupport.unpark(worker);
        }
        return wasParked;
    }

    private void run() {
        try {
            while (manager.isServing()) {
                if (loop.hasWork()) {
                    boolean isBusy = loop.isBusy();
                    if (isBusy) {
                        manager.idle().wakeOne();
                    }
                    loop.doWork(manager.idle().share(loop.load(), isBusy));
                } else {
                    awaitWork();
                }
            }
            loop.quiesce();
            int unused = stopServing(Optional.empty());
        } catch (Throwable e) { // also a checked exception, which other languages throw where none is declared
            fail(e);
        } finally {
            end();
        }
    }

    /** Ends all requests when the worker stops. */
    private void end() {
        try {
            if (!hasStoppedServing) {
                // It ran out of memory before it could report that.
                int unused = stopServing(Optional.empty());
            }
            endRemaining();
        } finally {
            stopped.countDown();
        }
    }

    private void awaitWork() {
        inFlight.expireUntil(clock.nanos());
        parked = true;
        try {
            if (!loop.hasWork() && manager.isServing()) {
                loop.checkIdle();
                long deadlineNanos = inFlight.nextDeadlineNanos();
                if (deadlineNanos == Long.MAX_VALUE) {
                    LockSupport.park(this);
                } else {
                    LockSupport.parkNanos(this, deadlineNanos - clock.nanos());
                }
            }
        } finally {
            parked = false;
        }
    }

    private void fail(Throwable failure) {
        EngineStopped stopped = new EngineStopped("the engine stopped: " + describe(failure), failure);
        int left = stopServing(Optional.of(RequestOutcome.failed(stopped)));
        boolean last = left == 0;
        failureOutcome = RequestOutcome.failed(
                last
                        ? stopped.suspectingRequest()
                        : new ReplicaStopped("replica " + index() + " stopped: " + describe(failure), failure));
        if (!(failure instanceof DeviceFailure)) {
            discardSteps(stopped);
        }
        if (!last) {
            LOGGER.log(
                    Level.ERROR,
                    Printable.line("replica " + index() + " stopped: " + describe(failure) + "; "
                            + manager.replicasOf(left) + "; restart the server to restore it"));
        }
    }

    private int stopServing(Optional<RequestOutcome> outcome) {
        hasStoppedServing = true;
        return manager.stopServing(this, outcome);
    }

    private static String describe(Throwable failure) {
        String message = failure.getMessage();
        return switch (failure) {
            case OutOfMemoryError full ->
                "it ran out of memory (" + message + "); give the JVM more (-Xmx), or allow fewer requests in flight";
            case Error error -> failure.toString();
            default -> message == null ? failure.toString() : message;
        };
    }

    /** Waits for the steps in flight: the device works, and the next engine on the same runner must not see them. */
    private void discardSteps(EngineStopped stopped) {
        boolean waiting = true;
        while (waiting) {
            try {
                // Each call waits for fewer steps, even if it fails.
                loop.discardSteps();
                waiting = false;
            } catch (Throwable e) {
                stopped.addSuppressed(e);
            }
        }
    }

    /** Ends or requeues the requests of the loop. */
    void endRemaining() {
        endAdmitted();
        manager.endUnadmitted();
    }

    private synchronized void endAdmitted() {
        RequestOutcome outcome = failureOutcome;
        if (outcome != null && manager.hasLiveReplicas()) {
            loop.requeueRestartable(manager::requeue);
        }
        loop.endAll(outcome == null ? manager.shutdownOutcome() : outcome);
    }

    void unpark() {
        LockSupport.unpark(worker);
    }

    /** Returns the stack location of the worker, for reports that it does not stop. */
    String workerLocation() {
        return ThreadLocation.of(worker);
    }

    /** Waits for the worker to stop, up to {@code limitNanos} even if interrupted; returns whether it has stopped. */
    boolean awaitStop(long limitNanos) {
        long startNanos = clock.nanos();
        boolean interrupted = false;
        long leftNanos = limitNanos;
        try {
            while (true) {
                try {
                    if (stopped.await(Math.min(leftNanos, POLL_NANOS), TimeUnit.NANOSECONDS)) {
                        return true;
                    }
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                leftNanos = limitNanos - (clock.nanos() - startNanos);
                if (leftNanos <= 0) {
                    return stopped.getCount() == 0;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
