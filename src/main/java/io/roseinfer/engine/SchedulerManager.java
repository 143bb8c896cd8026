package io.roseinfer.engine;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.base.Whereabouts;
import io.roseinfer.observe.Observers;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The engine loop on a thread of its own. Requests are handed over from any thread into a bounded queue and one worker admits,
 * prefills and decodes; an idle worker is parked.
 *
 * <p>A request that was accepted gets exactly one ending: from its caller or a tokenizer until it is handed over, then from the
 * loop, from {@code close}, or, if the worker dies, from its last act. That one allocates nothing, because the worker may have
 * died of having no memory left.
 */
final class SchedulerManager implements AutoCloseable {
    /** The worker's orders; they only move down this list. */
    private enum Mode {
        SERVING,
        /** Accepts nothing more and works off what there is. */
        DRAINING,
        /** Ends what there is. */
        STOPPING
    }

    /**
     * Memory kept back for the end: no reader can be woken where there is none at all, and no reader that sleeps lets go of what
     * it has.
     */
    private static final int RESERVE_BYTES = 4 << 20;

    /** Between two attempts at ending everything; others free memory meanwhile. */
    private static final long RETRY_NANOS = 1_000_000;

    /** Longest that {@link #close} waits for the worker: devices give two steps up in less, which each may take a minute. */
    static final long STOP_LIMIT_NANOS = 150_000_000_000L;

    /** Between two looks at the clock by who waits for the worker. */
    private static final long LOOK_NANOS = 10_000_000;

    private final EngineLoop loop;
    private final Observers observers;
    private final Clock clock;
    private final int maxInflightRequests;
    private final Runnable endTokenizing;
    private final AtomicInteger inflight = new AtomicInteger();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final AtomicReference<Mode> mode = new AtomicReference<>(Mode.SERVING);
    private final Ending outOfMemory;
    private final Thread worker;
    private volatile boolean parked;

    @SuppressWarnings("UnusedVariable") // it is there to be let go
    private volatile byte @Nullable [] reserve = new byte[RESERVE_BYTES];

    private volatile @Nullable Ending death;

    /** Whether a request was ended because the engine ended. */
    private volatile boolean hasCut;

    /** Made once: where memory has run out, nothing can be made. */
    private final Runnable onCut = this::noteCut;

    /**
     * A manager whose worker has not been started.
     *
     * @param observers are told of steps and of requests from their admission on
     * @param endTokenizing ends, by {@link #end}, the requests that were counted in and wait for a tokenizer or have one; called
     *     when the worker has stopped, perhaps more than once, and allocates nothing
     */
    SchedulerManager(
            ModelRunner runner,
            KvGeometry kv,
            EngineOptions options,
            Clock clock,
            Observers observers,
            Runnable endTokenizing) {
        this.maxInflightRequests = options.maxInflightRequests();
        this.clock = clock;
        this.endTokenizing = endTokenizing;
        this.observers = observers;
        this.loop = new EngineLoop(
                runner, kv, options.scheduler(), options.streamInterval(), clock, observers, this::unreserve);
        this.outOfMemory = Ending.failed(new EngineStopped(
                "the engine stopped: it ran out of memory", new OutOfMemoryError("nothing left to say where")));
        this.worker = Thread.ofPlatform().name("roseinfer-engine").daemon().unstarted(this::run);
        // With nothing to end, but what ends requests is loaded and initialized while there is memory for it.
        endLeftovers();
    }

    private void noteCut() {
        hasCut = true;
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
        int seen = inflight.get();
        while (seen < maxInflightRequests) {
            if (inflight.compareAndSet(seen, seen + 1)) {
                requireStillServing();
                return;
            }
            seen = inflight.get();
        }
        throw new Overloaded("too many requests in flight: " + maxInflightRequests
                + " is the most (max_inflight_requests); try again when one has ended");
    }

    /** A worker that drains leaves when nothing is counted in, so what was counted in after that would be cut. */
    private void requireStillServing() {
        try {
            requireServing();
        } catch (RuntimeException | Error e) {
            unreserve();
            throw e;
        }
    }

    /** Gives back what {@link #reserve} counted. */
    void unreserve() {
        inflight.decrementAndGet();
        wake();
    }

    /** Requests counted in that have not ended. */
    int inflight() {
        return inflight.get();
    }

    private void requireServing() {
        Ending ending = death;
        if (ending != null) {
            RoseException cause = ending.failure().orElseThrow();
            throw new EngineStopped(cause.getMessage(), cause);
        }
        if (mode.get() != Mode.SERVING) {
            throw new EngineStopped("the engine is closed; open another one");
        }
    }

    /** Hands over a request that was counted in, with its prompt's ids. */
    void submit(LiveRequest request, int[] prompt) {
        loop.submit(request, prompt);
        wake();
        if (stopped.getCount() == 0) {
            // The worker may have ended everything just before this request came in.
            endLeftovers();
        }
    }

    /** Ends a request as soon as may be: at once if it has not been handed over, else by the loop. */
    void cancel(LiveRequest request) {
        if (request.claimEarlyEnding()) {
            unreserve();
            tell(request, Ending.CANCELLED);
        } else if (!request.hasEnded()) {
            loop.cancel(request);
            wake();
        }
    }

    /** Ends a request that was counted in and whose deadline has passed before it was handed over. */
    void expire(LiveRequest request) {
        if (request.claimEarlyEnding()) {
            unreserve();
            tell(request, Ending.DEADLINE);
        }
    }

    /** Ends a request that was counted in and is not in the loop. */
    void end(LiveRequest request, Ending ending) {
        if (request.claimEnding()) {
            unreserve();
            tell(request, ending);
        }
    }

    /** Ends a request that was counted in and is not in the loop, as the engine ends. */
    void endWithEngine(LiveRequest request) {
        if (!request.hasEnded()) {
            hasCut = true;
        }
        end(request, ownEnding());
    }

    private Ending ownEnding() {
        Ending ending = death;
        return ending == null ? Ending.CANCELLED : ending;
    }

    private void tell(LiveRequest request, Ending ending) {
        if (request.end(ending, clock.nanos())) {
            observers.ended(request, ending.reason());
        }
    }

    /** Forgets a request that was counted in and that nobody reads. */
    void discard(LiveRequest request) {
        if (request.claimEnding()) {
            unreserve();
            observers.withdrawn(request);
        }
    }

    EngineStats stats() {
        return loop.stats();
    }

    private void wake() {
        if (parked) {
            LockSupport.unpark(worker);
        }
    }

    private void run() {
        try {
            while (isServing()) {
                if (loop.hasWork()) {
                    loop.doWork();
                } else {
                    awaitWork();
                }
            }
            loop.quiesce();
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

    private boolean isServing() {
        Mode now = mode.get();
        return now == Mode.SERVING || (now == Mode.DRAINING && inflight.get() > 0);
    }

    private void awaitWork() {
        parked = true;
        if (!loop.hasWork() && isServing()) {
            loop.checkIdle();
            LockSupport.park(this);
        }
        parked = false;
    }

    private void die(Throwable failure) {
        Ending ending = stoppedBy(failure);
        death = ending;
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
    private void endForCertain() {
        boolean over = false;
        while (!over) {
            try {
                endLeftovers();
                endTokenizing.run();
                over = true;
            } catch (OutOfMemoryError full) {
                LockSupport.parkNanos(this, RETRY_NANOS);
            }
        }
    }

    private synchronized void endLeftovers() {
        loop.endAll(ownEnding(), onCut);
    }

    /**
     * Ends every request at once and stops; returns when the worker has.
     *
     * @throws EngineStopped if it does not within {@link #STOP_LIMIT_NANOS}; what it works with must not be freed then
     */
    @Override
    public void close() {
        // Here too: the worker may be in the middle of waking somebody.
        reserve = null;
        advance(Mode.STOPPING);
        if (!awaitStop(STOP_LIMIT_NANOS)) {
            endTokenizing.run();
            throw new EngineStopped("the engine's thread has not ended within "
                    + TimeUnit.NANOSECONDS.toSeconds(STOP_LIMIT_NANOS) + " s of being told to: "
                    + Whereabouts.of(worker)
                    + "; what it was serving gets no ending, and the model's memory stays allocated because that thread"
                    + " may still use it; end the process");
        }
        // Who was handed over while the worker stopped has an ending when this returns, whoever comes to it first.
        endForCertain();
    }

    /** Accepts nothing more and works off what there is for at most {@code grace}; {@link #close} is to follow. */
    void drain(Duration grace) {
        advance(Mode.DRAINING);
        boolean unused = awaitStop(Math.min(EngineLimits.UNLIMITED_NANOS, TimeUnit.NANOSECONDS.convert(grace)));
    }

    /** Whether, so far, the engine has not failed and every request came to an ending of its own. */
    boolean hasWorkedOffAll() {
        return death == null && !hasCut;
    }

    private void advance(Mode target) {
        Mode seen = Objects.requireNonNull(mode.get());
        while (seen.compareTo(target) < 0 && !mode.compareAndSet(seen, target)) {
            seen = Objects.requireNonNull(mode.get());
        }
        LockSupport.unpark(worker);
    }

    /** Waits at most so long by the clock, however often it is interrupted; whether the worker has stopped. */
    private boolean awaitStop(long limitNanos) {
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
