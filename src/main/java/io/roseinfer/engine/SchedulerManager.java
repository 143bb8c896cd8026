package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.metrics.StepLog;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.scheduler.FinishReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The engine loop on a thread of its own. Requests are handed over from any thread into a bounded queue and one worker admits,
 * prefills and decodes; an idle worker is parked.
 *
 * <p>A request that was accepted gets exactly one ending: from the loop, from {@code close}, or, if the worker dies, from its
 * last act.
 */
final class SchedulerManager implements AutoCloseable {
    private enum Mode {
        SERVING,
        /** Accepts nothing more and works off what there is. */
        DRAINING,
        /** Ends what there is. */
        STOPPING
    }

    private final EngineLoop loop;
    private final StepLog log;
    private final int maxInflightRequests;
    private final AtomicInteger inflight = new AtomicInteger();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread worker;
    private volatile Mode mode = Mode.SERVING;
    private volatile boolean parked;
    private volatile @Nullable EngineStopped death;

    SchedulerManager(ModelRunner runner, EngineOptions options, Clock clock) {
        this.maxInflightRequests = options.maxInflightRequests();
        this.log = new StepLog(options.stepHistory());
        this.loop = new EngineLoop(
                runner, options.scheduler(), options.streamInterval(), clock, log, inflight::decrementAndGet);
        this.worker = Thread.ofPlatform().name("roseinfer-engine").daemon().unstarted(this::run);
    }

    void start() {
        worker.start();
    }

    /**
     * Counts a request in.
     *
     * @throws Overloaded if as many are in flight as there may be
     * @throws EngineStopped if the engine is closed or dead
     */
    void reserve() {
        requireServing();
        if (inflight.incrementAndGet() > maxInflightRequests) {
            inflight.decrementAndGet();
            throw new Overloaded("too many requests in flight: " + maxInflightRequests
                    + " is the most (max_inflight_requests); try again when one has ended");
        }
    }

    /** Gives back what {@link #reserve} counted, for a request that was never handed over. */
    void unreserve() {
        inflight.decrementAndGet();
    }

    private void requireServing() {
        EngineStopped cause = death;
        if (cause != null) {
            throw new EngineStopped(cause.getMessage(), cause);
        }
        if (mode != Mode.SERVING) {
            throw new EngineStopped("the engine is closed; open another one");
        }
    }

    /** Hands over a request that was counted in and whose prompt is tokenized. */
    void submit(LiveRequest request) {
        loop.submit(request);
        wake();
        if (stopped.getCount() == 0) {
            // The worker may have ended everything just before this request came in.
            endLeftovers();
        }
    }

    void cancel(LiveRequest request) {
        loop.cancel(request);
        wake();
    }

    EngineStats stats() {
        return loop.stats();
    }

    List<StepRecord> steps() {
        return log.steps();
    }

    private void wake() {
        if (parked) {
            LockSupport.unpark(worker);
        }
    }

    private void run() {
        try {
            while (mode == Mode.SERVING || (mode == Mode.DRAINING && inflight.get() > 0)) {
                if (loop.hasWork()) {
                    loop.doWork();
                } else {
                    awaitWork();
                }
            }
            loop.quiesce();
        } catch (RuntimeException | Error e) {
            EngineStopped cause = new EngineStopped("the engine stopped: " + e.getMessage(), e);
            death = cause;
            if (!(e instanceof DeviceFailure)) {
                forgetSteps(cause);
            }
        } finally {
            endLeftovers();
            stopped.countDown();
            endLeftovers();
        }
    }

    /** The device is well: what it still computes must not meet the next engine on the same runner. */
    private void forgetSteps(EngineStopped cause) {
        try {
            loop.forgetSteps();
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    private void awaitWork() {
        parked = true;
        if (!loop.hasWork() && mode == Mode.SERVING) {
            LockSupport.park(this);
        }
        parked = false;
    }

    private synchronized void endLeftovers() {
        EngineStopped cause = death;
        loop.endAll(cause == null ? FinishReason.CANCELLED : FinishReason.ERROR, cause);
    }

    /** Ends every request at once and stops; returns when the worker has. */
    @Override
    public void close() {
        stop(Mode.STOPPING);
        awaitStop(Duration.ofSeconds(Long.MAX_VALUE / 1_000_000_000));
    }

    /**
     * Accepts nothing more, works off what there is for at most {@code grace}, then ends the rest.
     *
     * @return whether everything was worked off in time
     */
    boolean close(Duration grace) {
        stop(Mode.DRAINING);
        boolean drained = awaitStop(grace);
        close();
        return drained;
    }

    private void stop(Mode target) {
        if (mode != Mode.STOPPING) {
            mode = target;
        }
        LockSupport.unpark(worker);
    }

    private boolean awaitStop(Duration limit) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return stopped.await(limit.toNanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
