package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedLoad.Pacing;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.metrics.StepRecord.Fact;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A measured run of a load against a server or an in-process engine. The caller's thread sends requests according to the load's pacing;
 * the target's threads read responses.
 */
public final class LoadRun {
    /** No limit on requests in flight. */
    public static final int UNBOUNDED = Integer.MAX_VALUE;

    /** Time without any event after the last response arrived, after which reader threads count as dead. */
    private static final long LOST_NANOS = 10_000_000_000L;

    private static final long LOOK_MILLIS = 100;
    private static final long LOOK_NANOS = 1_000_000 * LOOK_MILLIS;

    private final Target target;
    private final int maxConcurrency;
    private final Duration silence;
    private final Clock clock;
    private final Pacer pacer;
    private final Semaphore slots;
    private final boolean isWarmUp;
    private final long limitNanos;
    private long startNanos;
    private volatile long lastEndNanos;

    /**
     * Creates a run, which can be repeated.
     *
     * @param maxConcurrency maximum requests in flight; further ones wait
     * @param silence maximum time without data from the target while responses are incomplete
     */
    public LoadRun(Target target, int maxConcurrency, Duration silence, Clock clock) {
        this(target, maxConcurrency, silence, clock, Pacer.precise(clock), false, Long.MAX_VALUE);
    }

    /** Creates a run with another pacer, for tests of counts: it starts without waiting, like a {@link #warmUp warm-up}. */
    LoadRun(Target target, int maxConcurrency, Duration silence, Clock clock, Pacer pacer) {
        this(target, maxConcurrency, silence, clock, pacer, true, Long.MAX_VALUE);
    }

    private LoadRun(
            Target target,
            int maxConcurrency,
            Duration silence,
            Clock clock,
            Pacer pacer,
            boolean isWarmUp,
            long limitNanos) {
        this.target = target;
        this.maxConcurrency = maxConcurrency;
        this.silence = silence;
        this.clock = clock;
        this.pacer = pacer;
        this.slots = new Semaphore(maxConcurrency);
        this.isWarmUp = isWarmUp;
        this.limitNanos = limitNanos;
    }

    /**
     * Creates a warm-up without a limit on requests in flight. It starts without waiting for the garbage collector and the JIT compilers.
     *
     * @param silence see the constructor
     * @param limitNanos time after which the run ends: requests in flight fail, and the result contains only the sent requests
     */
    public static LoadRun warmUp(Target target, Duration silence, Clock clock, long limitNanos) {
        return new LoadRun(target, UNBOUNDED, silence, clock, Pacer.precise(clock), true, limitNanos);
    }

    /**
     * Runs the load and returns when all requests have ended. An interrupt ends the run: requests in flight fail, the result contains only
     * the sent requests, and the thread stays interrupted.
     *
     * @throws InsufficientMemory if responses are complete but the threads that read them no longer run
     * @throws RuntimeException if the target has a {@link Target#failure failure}
     */
    public LoadResult run(OfferedLoad load) {
        return run(load, () -> {});
    }

    /**
     * Runs the load as {@link #run(OfferedLoad)} does, with a callback after every request.
     *
     * @param afterEach called after each request on its reader thread, which it blocks
     */
    public LoadResult run(OfferedLoad load, Runnable afterEach) {
        List<Call> calls = calls(load.requests());
        int maxAtOnce = load.hasConversations() ? Math.min(load.requests().size(), maxConcurrency) : maxConcurrency;
        target.prepare(calls.stream().map(call -> call.request).toList(), maxAtOnce);
        if (!isWarmUp) {
            // Collect garbage and await compilation of the warm-up and the preparation; during the run they would delay
            // due requests.
            System.gc();
            Compilers.awaitStill(clock);
        }
        Heartbeat heartbeat = Heartbeat.start(clock);
        boolean isOver = false;
        try {
            LoadResult result = run(calls, load, afterEach, heartbeat);
            isOver = true;
            return result;
        } finally {
            if (!isOver) {
                target.abort("the run failed");
            }
            long unused = heartbeat.stop();
        }
    }

    /** Returns the calls of requests, then the calls of later turns. */
    private static List<Call> calls(List<OfferedRequest> requests) {
        List<Call> calls = new ArrayList<>();
        for (OfferedRequest request : requests) {
            calls.add(new Call(calls.size(), request));
        }
        for (int i = 0; i < calls.size(); i++) {
            Optional<OfferedRequest.Turn> turn = calls.get(i).request.next();
            if (turn.isPresent()) {
                Call next = new Call(calls.size(), turn.get().request());
                calls.get(i).next = Optional.of(next);
                calls.add(next);
            }
        }
        return calls;
    }

    private LoadResult run(List<Call> calls, OfferedLoad load, Runnable afterEach, Heartbeat heartbeat) {
        Pacing pacing = load.pacing();
        CountDownLatch running = new CountDownLatch(calls.size());
        AtomicLong open = new AtomicLong(calls.size());
        BlockingQueue<Call> continued = new LinkedBlockingQueue<>();
        Consumer<Call> ended = call -> {
            lastEndNanos = clock.nanos();
            call.next.ifPresent(next -> {
                next.continueAfter(call);
                next.dueNanos =
                        call.endNanos + call.request.next().orElseThrow().thinkNanos();
                continued.add(next);
            });
            open.decrementAndGet();
            if (call.hasSlot) {
                slots.release();
            }
            try {
                afterEach.run();
            } finally {
                running.countDown();
            }
        };
        ClientCost before = ClientCost.now();
        startNanos = clock.nanos();
        Sender sender = new Sender(calls.subList(0, load.requests().size()), pacing, continued, ended);
        sender.sendAll(calls.size());
        long unanswered = awaitAll(running, sender.unsent, open);
        target.failure().ifPresent(LoadRun::raise);
        long endNanos = clock.nanos();
        ClientCost cost = ClientCost.now().since(before, heartbeat.stop());
        boolean interrupted = Thread.interrupted();
        calls.removeIf(call -> !call.hasBegun);
        target.join(calls);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return new LoadResult(
                startNanos,
                endNanos,
                pacing == Pacing.SCHEDULED,
                calls.stream().map(CallResult::of).toList(),
                cost,
                Oddities.of(calls, target.openedLate(), unanswered),
                target.steps().stream()
                        .filter(step -> step.get(Fact.START_NANOS) >= startNanos)
                        .toList());
    }

    private boolean isPastLimit() {
        return clock.nanos() - startNanos >= limitNanos;
    }

    private boolean isEnding() {
        return Thread.currentThread().isInterrupted() || isPastLimit();
    }

    /** The sender of a run's calls, on the run's thread: first turns by the load's pacing, later ones after their think times. */
    private final class Sender {
        private final Deque<Call> first;
        private final Pacing pacing;
        /** Later turns whose previous turn has ended, by scheduled time. */
        private final PriorityQueue<Call> later = new PriorityQueue<>(
                Comparator.comparingLong((Call call) -> call.dueNanos).thenComparingInt(call -> call.id));

        /** The same, not yet taken by the sender. */
        private final BlockingQueue<Call> continued;

        private final Consumer<Call> ended;
        private long heldUntilNanos = startNanos;
        /** Time zero of the load's times. */
        private long originNanos = startNanos;

        private int unsent;

        Sender(List<Call> first, Pacing pacing, BlockingQueue<Call> continued, Consumer<Call> ended) {
            this.first = new ArrayDeque<>(first);
            this.pacing = pacing;
            this.continued = continued;
            this.ended = ended;
        }

        /** Sends a number of calls; {@code unsent} remain after an interrupt or past the limit. */
        void sendAll(int calls) {
            for (unsent = calls; unsent > 0 && !isEnding(); ) {
                if (first.isEmpty() && later.isEmpty()) {
                    await(() -> takeContinued(LOOK_NANOS) || isEnding(), false);
                    continue;
                }
                boolean isFirst = later.isEmpty() || (!first.isEmpty() && dueNanos() <= later.peek().dueNanos);
                Call call = isFirst ? first.element() : later.element();
                if (!awaitTurn(isFirst ? dueNanos() : call.dueNanos)) {
                    continue;
                }
                boolean unused = isFirst ? first.remove(call) : later.remove(call);
                if (!call.error.isEmpty()) {
                    skip(call);
                } else if (!send(call, isFirst)) {
                    return;
                }
            }
        }

        /** Returns when the next first turn is scheduled, in a burst at once. */
        private long dueNanos() {
            return pacing == Pacing.BURST
                    ? startNanos
                    : originNanos + first.element().request.dueNanos();
        }

        /** Waits for a scheduled time; returns false if a later turn has become known, which may be scheduled before. */
        private boolean awaitTurn(long dueNanos) {
            if (!hasConversations()) {
                awaitDue(dueNanos);
                return true;
            }
            if (takeContinued(0)) {
                return false;
            }
            for (long now = clock.nanos(); now < dueNanos && !isEnding(); now = clock.nanos()) {
                if (dueNanos - now > 2 * Pacer.SPIN_NANOS) {
                    if (takeContinued(Math.min(LOOK_NANOS, dueNanos - now - Pacer.SPIN_NANOS))) {
                        return false;
                    }
                    target.failure().ifPresent(LoadRun::raise);
                } else {
                    pacer.awaitUntil(dueNanos);
                }
            }
            return true;
        }

        private boolean hasConversations() {
            return unsent > first.size();
        }

        /** Waits for a later turn that has become known, prepares it, and returns whether there was one. */
        private boolean takeContinued(long nanos) {
            try {
                Call next = continued.poll(nanos, TimeUnit.NANOSECONDS);
                if (next == null) {
                    return false;
                }
                if (next.error.isEmpty()) {
                    target.prepare(next);
                }
                return later.add(next);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }

        /** Ends a call that cannot be sent. */
        private void skip(Call call) {
            long now = clock.nanos();
            call.dueNanos = now;
            call.readyNanos = now;
            call.sentNanos = now;
            call.endNanos = now;
            call.hasBegun = true;
            unsent--;
            ended.accept(call);
        }

        /** Sends a due call; returns false after an interrupt or past the limit. */
        private boolean send(Call call, boolean isFirst) {
            if (!isEnding() && !slots.tryAcquire()) {
                await(() -> slots.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS), false);
                heldUntilNanos = clock.nanos();
            }
            target.failure().ifPresent(LoadRun::raise);
            if (isEnding()) {
                return false;
            }
            if (isFirst) {
                call.dueNanos = pacing == Pacing.SCHEDULED ? originNanos + call.request.dueNanos() : clock.nanos();
            }
            call.readyNanos = Math.max(call.dueNanos, heldUntilNanos);
            call.hasBegun = true;
            call.hasSlot = true;
            unsent--;
            target.send(call, ended);
            if (isFirst && pacing == Pacing.AFTER_SENT) {
                originNanos = clock.nanos() - call.request.dueNanos();
            }
            return true;
        }
    }

    /** Waits in short intervals, because a pacer ignores interrupts. */
    private void awaitDue(long dueNanos) {
        long until = clock.nanos();
        while (until < dueNanos && !isEnding()) {
            until = Math.min(dueNanos, until + LOOK_NANOS);
            pacer.awaitUntil(until);
            target.failure().ifPresent(LoadRun::raise);
        }
    }

    /** Waits for all requests, and returns the number of requests running when the run was ended by an interrupt or the limit. */
    private long awaitAll(CountDownLatch running, int unsent, AtomicLong open) {
        for (int i = 0; i < unsent; i++) {
            running.countDown();
        }
        await(() -> running.await(LOOK_MILLIS, TimeUnit.MILLISECONDS) || isPastLimit(), false);
        boolean interrupted = Thread.interrupted();
        if (!interrupted && !isPastLimit()) {
            return 0;
        }
        long unanswered = open.get();
        target.abort(interrupted ? "interrupted" : "the warm-up is over");
        // Past the limit a running step is awaited, however long it takes.
        await(() -> running.await(LOOK_MILLIS, TimeUnit.MILLISECONDS), interrupted);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return unanswered;
    }

    /** A bounded wait for a condition; returns whether it holds. */
    @FunctionalInterface
    private interface Look {
        boolean look() throws InterruptedException;
    }

    /**
     * Waits for a condition that the ends of requests establish.
     *
     * @param givenUp whether the requests in flight have been aborted
     */
    private void await(Look look, boolean givenUp) {
        boolean owed = !givenUp;
        long fromNanos = clock.nanos();
        try {
            while (!look.look()) {
                target.failure().ifPresent(LoadRun::raise);
                if (owed && target.isAnswered()) {
                    owed = false;
                    fromNanos = clock.nanos();
                }
                long quietNanos =
                        clock.nanos() - Math.max(fromNanos, Math.max(lastEndNanos, target.lastArrivalNanos()));
                if (!owed && quietNanos > LOST_NANOS) {
                    throw new InsufficientMemory(
                            "responses are complete, but the threads that read them no longer run; give the JVM more"
                                    + " memory (-Xmx), or reduce the load");
                }
                if (owed && quietNanos > silence.toNanos()) {
                    target.abort("nothing arrived for " + silence.toSeconds() + " s");
                    owed = false;
                    fromNanos = clock.nanos();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void raise(Throwable failure) {
        switch (failure) {
            case RuntimeException unchecked -> throw unchecked;
            case Error error -> throw error;
            default -> throw new IllegalStateException("responses cannot be read", failure);
        }
    }
}
