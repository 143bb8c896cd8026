package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.base.ThreadLocation;
import io.roseinfer.observe.Observers;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An engine loop on a thread of its own, over a device of its own. It admits, prefills and decodes; where there is nothing to do, its
 * thread is parked.
 *
 * <p>Its thread's last act ends what it has, or gives it back to be served by another. An {@link OutOfMemoryError} is a failure as
 * any other: what cannot be ended for lack of memory is ended by {@link SchedulerManager#close}.
 */
final class Replica {
    /** Between two looks at the clock by who waits for the worker. */
    private static final long LOOK_NANOS = 10_000_000;

    private final SchedulerManager manager;
    private final InFlight inFlight;
    private final EngineLoop loop;
    private final Clock clock;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread worker;
    private volatile boolean parked;
    private boolean hasLeft;

    /** How its requests end that nobody takes back. */
    private volatile @Nullable Ending death;

    /**
     * A replica whose worker has not been started.
     *
     * @param index its number among those of its manager
     * @param observers are told of its steps, and of its requests from their admission on
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
        this.loop = new EngineLoop(index, runner, options, clock, observers, manager.looksAtPrefixes(), inFlight);
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

    /** Why it died; empty while it lives, and where it was closed. */
    Optional<Ending> death() {
        return Optional.ofNullable(death);
    }

    boolean isParked() {
        return parked;
    }

    /** Has the loop turned soon, if it has stopped for lack of work. */
    void wake() {
        if (parked) {
            LockSupport.unpark(worker);
        }
    }

    private void run() {
        try {
            while (manager.isServing()) {
                if (loop.hasWork()) {
                    if (loop.isBusy()) {
                        manager.wakeOne();
                    }
                    loop.doWork(manager.share(this));
                } else {
                    awaitWork();
                }
            }
            loop.quiesce();
            boolean unused = leave(Optional.empty());
        } catch (Throwable e) { // also a checked exception, which other languages throw where none is declared
            die(e);
        } finally {
            end();
        }
    }

    /** The worker's last act. */
    private void end() {
        try {
            if (!hasLeft) {
                // It failed for lack of memory, and there was too little to say so.
                boolean unused = leave(Optional.empty());
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

    private void die(Throwable failure) {
        EngineStopped stopped = new EngineStopped("the engine stopped: " + describe(failure), failure);
        boolean last = leave(Optional.of(Ending.failed(stopped)));
        death = Ending.failed(
                last
                        ? stopped
                        : new ReplicaStopped(
                                "engine " + index()
                                        + " stopped, and this request with it; the others go on, so submit it again: "
                                        + describe(failure),
                                failure));
        if (!(failure instanceof DeviceFailure)) {
            forgetSteps(stopped);
        }
    }

    private boolean leave(Optional<Ending> ending) {
        hasLeft = true;
        return manager.leave(this, ending);
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

    /** The device is well: what it still computes must not meet the next engine on the same runner. */
    private void forgetSteps(EngineStopped stopped) {
        boolean waiting = true;
        while (waiting) {
            try {
                // Each call has fewer steps to wait for, also one that fails.
                loop.forgetSteps();
                waiting = false;
            } catch (Throwable e) {
                stopped.addSuppressed(e);
            }
        }
    }

    /** Ends the requests that the loop has, or gives them back. */
    void endRemaining() {
        endLeftovers();
        manager.endUnrouted();
    }

    private synchronized void endLeftovers() {
        Ending ending = death;
        if (ending != null && manager.hasLiving()) {
            loop.giveBackUntouched(manager::takeBack);
        }
        loop.endAll(ending == null ? manager.ownEnding() : ending);
    }

    void unpark() {
        LockSupport.unpark(worker);
    }

    /** Where its worker is, for who reports that it does not stop. */
    String whereabouts() {
        return ThreadLocation.of(worker);
    }

    /** Waits at most so long by the clock, however often it is interrupted; whether the worker has stopped. */
    boolean awaitStop(long limitNanos) {
        long startNanos = clock.nanos();
        boolean interrupted = false;
        long leftNanos = limitNanos;
        try {
            while (true) {
                try {
                    if (stopped.await(Math.min(leftNanos, LOOK_NANOS), TimeUnit.NANOSECONDS)) {
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
