package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.ReplicaStopped;
import io.roseinfer.base.Whereabouts;
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
 * <p>Its thread's last act ends what it has, or gives it back to be served by another. That needs no memory, because the thread may
 * have died of having none left.
 */
final class Replica implements EngineLoop.Owner {
    /**
     * Memory kept back for the end: no reader can be woken where there is none at all, and no reader that sleeps lets go of what
     * it has.
     */
    private static final int RESERVE_BYTES = 4 << 20;

    /** Between two attempts at ending everything; others free memory meanwhile. */
    private static final long RETRY_NANOS = 1_000_000;

    /** Between two looks at the clock by who waits for the worker. */
    private static final long LOOK_NANOS = 10_000_000;

    private final SchedulerManager manager;
    private final EngineLoop loop;
    private final Clock clock;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Ending outOfMemory;
    private final Ending lostToMemory;
    private final Thread worker;
    private volatile boolean parked;

    @SuppressWarnings("UnusedVariable") // it is there to be let go
    private volatile byte @Nullable [] reserve = new byte[RESERVE_BYTES];

    /** How its requests end that nobody takes back. */
    private volatile @Nullable Ending death;

    /** Made once: where memory has run out, nothing can be made. */
    private final Runnable onCut;

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
            KvGeometry kv,
            EngineOptions options,
            Clock clock,
            Observers observers) {
        this.manager = manager;
        this.clock = clock;
        this.onCut = manager::noteCut;
        this.loop = new EngineLoop(index, runner, kv, options, clock, observers, manager.shared(), this);
        this.outOfMemory = Ending.failed(new EngineStopped(
                "the engine stopped: it ran out of memory", new OutOfMemoryError("nothing left to say where")));
        this.lostToMemory = Ending.failed(new ReplicaStopped(lost(index) + "it ran out of memory"));
        String name = index == 0 ? "roseinfer-engine" : "roseinfer-engine-" + index;
        this.worker = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    }

    private static String lost(int index) {
        return "engine " + index + " stopped, and this request with it; the others go on, so submit it again: ";
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

    /** Hands over a request that was counted in, with its prompt's ids. */
    void submit(LiveRequest request, int[] prompt) {
        loop.submit(request, prompt);
        wake();
        if (stopped.getCount() == 0) {
            // The worker may have ended everything just before this request came in.
            endLeftovers();
            manager.wakeOne();
            manager.endUnrouted();
        }
    }

    @Override
    public void countOut() {
        manager.unreserve();
    }

    @Override
    public boolean takesBack() {
        return death != null && manager.hasLiving();
    }

    @Override
    public boolean publishesPrefixes() {
        return manager.looksAtPrefixes();
    }

    @Override
    public void wakeOther() {
        manager.wakeOne();
    }

    @Override
    public void takeBack(LiveRequest request) {
        if (request.giveBack()) {
            manager.shared().addBack(request);
        }
    }

    @Override
    public void wake() {
        if (parked) {
            LockSupport.unpark(worker);
        }
    }

    private void run() {
        try {
            while (manager.isServing()) {
                if (loop.hasWork()) {
                    loop.doWork();
                } else {
                    awaitWork();
                }
            }
            loop.quiesce();
            boolean unused = manager.leave(this, null);
        } catch (RuntimeException | Error e) {
            die(e);
        } finally {
            end();
        }
    }

    /** The worker's last act. */
    private void end() {
        reserve = null;
        try {
            endForCertain();
        } finally {
            stopped.countDown();
            // Who was handed over after the first of the two and before the count went down.
            endForCertain();
        }
    }

    private void awaitWork() {
        SharedQueue shared = manager.shared();
        parked = true;
        shared.sleepersChanged(1);
        try {
            if (!loop.hasWork() && manager.isServing()) {
                loop.checkIdle();
                LockSupport.park(this);
            }
        } finally {
            shared.sleepersChanged(-1);
            parked = false;
        }
    }

    private void die(Throwable failure) {
        Ending ending = stoppedBy(failure);
        boolean last = manager.leave(this, ending);
        death = last ? ending : lostBy(failure);
        if (!(failure instanceof DeviceFailure)) {
            forgetSteps(ending);
        }
    }

    private Ending stoppedBy(Throwable failure) {
        try {
            return Ending.failed(new EngineStopped("the engine stopped: " + failure.getMessage(), failure));
        } catch (OutOfMemoryError full) {
            return outOfMemory;
        }
    }

    private Ending lostBy(Throwable failure) {
        try {
            return Ending.failed(new ReplicaStopped(lost(index()) + failure.getMessage(), failure));
        } catch (OutOfMemoryError full) {
            return lostToMemory;
        }
    }

    /** The device is well: what it still computes must not meet the next engine on the same runner. */
    private void forgetSteps(Ending ending) {
        boolean waiting = true;
        while (waiting) {
            try {
                // Each call has fewer steps to wait for, also one that fails.
                loop.forgetSteps();
                waiting = false;
            } catch (OutOfMemoryError full) {
                // Like the failure that is being reported already.
            } catch (RuntimeException | Error e) {
                suppress(e, ending);
            }
        }
    }

    private static void suppress(Throwable further, Ending ending) {
        try {
            ending.failure().orElseThrow().addSuppressed(further);
        } catch (OutOfMemoryError full) {
            // The first failure is the one that counts.
        }
    }

    /** Nothing may keep this from being done. */
    void endForCertain() {
        boolean over = false;
        while (!over) {
            try {
                endLeftovers();
                // What it has given back is taken by the others, or by nobody.
                manager.wakeOne();
                manager.endUnrouted();
                over = true;
            } catch (OutOfMemoryError full) {
                LockSupport.parkNanos(this, RETRY_NANOS);
            }
        }
    }

    private synchronized void endLeftovers() {
        Ending ending = death;
        loop.endAll(ending == null ? manager.ownEnding() : ending, onCut);
    }

    /** Lets go of what is kept for the end: the worker may be in the middle of waking somebody. */
    void releaseReserve() {
        reserve = null;
    }

    void unpark() {
        LockSupport.unpark(worker);
    }

    /** Whether its worker is who asks. */
    boolean isCurrentThread() {
        return Thread.currentThread().equals(worker);
    }

    /** Its worker's name. */
    String name() {
        return worker.getName();
    }

    /** Where its worker is, for who reports that it does not stop. */
    String whereabouts() {
        return Whereabouts.of(worker);
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
