package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Submits requests to one or several {@link Replica}s. Any thread may submit. A request waits in the
 * {@link WaitingQueue}, for the replica chosen by a {@link RoutingPolicy} or for any, until a replica's scheduler
 * admits it.
 *
 * <p>An admitted request is ended by its replica's loop, or when that replica fails. If it has no output then, it is
 * requeued for the other replicas.
 */
final class SchedulerManager implements AutoCloseable {
    /** The modes of the replicas, in order. */
    private enum Mode {
        SERVING,
        /** Accepts no further requests and completes those in flight. */
        DRAINING,
        /** Ends all requests. */
        STOPPING
    }

    /**
     * Maximum time that {@link #close} waits for the workers. Devices give up on two steps within it, each after up to
     * a minute.
     */
    static final long STOP_LIMIT_NANOS = 150_000_000_000L;

    private final Clock clock;
    private final ModelSpec spec;
    private final TokenizeWorkers tokenizers;
    private final WaitingQueue waitingQueue;
    private final InFlight inFlight;
    private final RequestRouter router;
    private final List<Replica> replicas;
    private final IdleReplicas idle;

    private final AtomicReference<Mode> mode = new AtomicReference<>(Mode.SERVING);

    private volatile int liveCount;
    private volatile @Nullable RequestOutcome failureOutcome;

    /**
     * Creates a manager whose replicas have not been started.
     *
     * @param runners one per replica, at least one
     * @param tokenizers hold requests that were accepted and are not tokenized yet
     */
    SchedulerManager(
            List<? extends ModelRunner> runners,
            EngineOptions options,
            RoutingPolicy routing,
            Clock clock,
            Observers observers,
            TokenizeWorkers tokenizers) {
        this.spec = runners.getFirst().spec();
        this.clock = clock;
        this.tokenizers = tokenizers;
        this.waitingQueue = new WaitingQueue(runners.size(), options.scheduler().policies());
        this.inFlight = new InFlight(
                options.maxInflightRequests(), clock, observers.requests(), waitingQueue, tokenizers, this::wakeAll);
        this.router = new RequestRouter(runners.size() == 1 ? (request, only) -> 0 : routing, options, inFlight);
        this.replicas = IntStream.range(0, runners.size())
                .mapToObj(i -> new Replica(this, i, runners.get(i), options, clock, observers))
                .toList();
        this.idle = new IdleReplicas(replicas, router, waitingQueue);
        loads().forEach(router::add);
        this.liveCount = replicas.size();
    }

    void start() {
        for (Replica replica : replicas) {
            replica.start();
        }
    }

    boolean usesPrefixes() {
        return router.usesPrefixes();
    }

    IdleReplicas idle() {
        return idle;
    }

    InFlight inFlight() {
        return inFlight;
    }

    /**
     * Reserves a place for a request.
     *
     * @throws io.roseinfer.base.RoseException.Overloaded if the maximum is in flight
     * @throws EngineStopped if the engine is closed or has failed
     */
    void reserve() {
        requireServing();
        inFlight.reserve();
        try {
            // A draining worker stops when nothing is in flight; a later reservation would be terminated.
            requireServing();
        } catch (RuntimeException | Error e) {
            inFlight.release();
            throw e;
        }
    }

    private void wakeAll() {
        for (Replica replica : replicas) {
            replica.wake();
        }
    }

    private void requireServing() {
        RequestOutcome outcome = failureOutcome;
        if (outcome != null) {
            RoseException cause = outcome.failure().orElseThrow();
            throw new EngineStopped(cause.getMessage(), cause);
        }
        if (mode.get() != Mode.SERVING) {
            throw new EngineStopped("the engine is closed; open another one");
        }
        if (liveCount == 0) {
            throw new EngineStopped("the engine stopped; open another one");
        }
    }

    /** Queues a reserved request with its prompt's ids for the replica that the routing policy chooses, or for any. */
    void submit(LiveRequest request, int[] prompt) {
        Optional<ReplicaLoad> chosen = router.choose(request, prompt);
        Sequence sequence = request.newSequence(prompt, spec);
        watchDeadline(request);
        if (!router.enqueue(request, sequence, chosen)) {
            return;
        }
        if (chosen.isPresent()) {
            replicas.get(chosen.get().index()).wake();
        }
        idle.wakeOne();
        endUnadmitted();
    }

    /** Queues a reserved request for a tokenizer. */
    void tokenize(LiveRequest request) {
        watchDeadline(request);
        tokenizers.submit(request);
        if (request.hasEnded()) {
            // Its deadline may have passed before it was queued.
            tokenizers.remove(request);
        }
    }

    /** Watches the deadline of a request that no replica has admitted, waking a parked replica if necessary. */
    private void watchDeadline(LiveRequest request) {
        if (inFlight.watch(request)) {
            idle.wakeAny();
        }
    }

    /** Requeues a request that a replica had admitted. */
    void requeue(LiveRequest request) {
        inFlight.requeue(request);
        watchDeadline(request);
        idle.wakeOne();
        if (request.isCancelled()) {
            // The caller may have cancelled it in the replica that had it before.
            cancel(request);
        }
    }

    /** Cancels a request: immediately if no replica has admitted it, otherwise in that replica's loop. */
    void cancel(LiveRequest request) {
        // First, so that a replica that admits it from now on cancels it.
        request.cancel();
        int number =
                inFlight.endBeforeAdmission(request, RequestOutcome.CANCELLED) ? WaitingQueue.ANY : request.replica();
        if (number != WaitingQueue.ANY && !request.hasEnded()) {
            Replica replica = replicas.get(number);
            replica.loop().cancel(request);
            replica.wake();
        }
    }

    /** Returns the outcome of requests that end with the engine. */
    RequestOutcome shutdownOutcome() {
        RequestOutcome outcome = failureOutcome;
        return outcome == null ? RequestOutcome.CANCELLED : outcome;
    }

    /** Returns the sums of the replicas' counters, with the request counts. */
    EngineStats stats(RequestCounts requests) {
        return EngineStats.sum(replicaStats(), waitingQueue.sharedCount() + tokenizers.size(), requests);
    }

    /** Returns the counters of each replica, without requests that wait for any. */
    List<EngineStats> replicaStats() {
        return replicas.stream().map(replica -> replica.loop().stats()).toList();
    }

    /** Returns the load of each replica. */
    List<ReplicaLoad> loads() {
        return replicas.stream().map(replica -> replica.loop().load()).toList();
    }

    /** Returns the failure of a replica; empty while it serves or after the engine was closed. */
    Optional<RoseException> failure(int replica) {
        return replicas.get(replica).failureOutcome().flatMap(RequestOutcome::failure);
    }

    /** Returns whether workers must keep running. */
    boolean isServing() {
        Mode now = mode.get();
        return now == Mode.SERVING || (now == Mode.DRAINING && inFlight.count() > 0);
    }

    /** Returns how many replicas are left, for messages. */
    String replicasOf(int left) {
        return left + " of " + replicas.size() + " still " + (left == 1 ? "serves" : "serve");
    }

    /** Returns whether a live replica could serve requeued requests. */
    boolean hasLiveReplicas() {
        return liveCount > 0 && mode.get() != Mode.STOPPING;
    }

    /**
     * Records that a replica has stopped serving.
     *
     * @param outcome outcome of further requests if this is the last replica and it failed
     * @return the number of replicas left
     */
    synchronized int stopServing(Replica replica, Optional<RequestOutcome> outcome) {
        int left = liveCount - 1;
        if (left == 0) {
            // First, so that threads that see no live replica find the outcome.
            failureOutcome = outcome.orElse(null);
        }
        liveCount = left;
        router.remove(replica.index());
        // It may have been woken for a shared request.
        idle.wakeOne();
        return left;
    }

    /** Ends the requests that no loop has admitted, if no replica is left to admit them. */
    void endUnadmitted() {
        if (liveCount == 0 || mode.get() == Mode.STOPPING) {
            // In this order: requests that a tokenizer submits meanwhile wait, and are ended second.
            endTokenizing();
            inFlight.terminateWaiting(shutdownOutcome());
        }
    }

    /** Ends the requests that are not tokenized yet. */
    void endTokenizing() {
        tokenizers.stop(request -> inFlight.terminateTokenizing(request, shutdownOutcome()));
    }

    /**
     * Ends all requests and stops; returns when the workers have stopped.
     *
     * @throws EngineStopped if they do not stop within {@link #STOP_LIMIT_NANOS}; their resources must not be freed
     *     then
     */
    @Override
    public void close() {
        advance(Mode.STOPPING);
        Replica late = awaitStop(STOP_LIMIT_NANOS);
        if (late != null) {
            endTokenizing();
            throw new EngineStopped("the engine's thread has not stopped within "
                    + TimeUnit.NANOSECONDS.toSeconds(STOP_LIMIT_NANOS) + " s: "
                    + late.workerLocation()
                    + "; its requests do not end, and the model's memory stays allocated because that thread"
                    + " may still use it; end the process");
        }
        // Ends requests that arrived while a worker stopped, or that it had no memory to end.
        replicas.forEach(Replica::endRemaining);
        inFlight.awaitOutcomes(STOP_LIMIT_NANOS);
    }

    /**
     * Rejects further requests and completes those in flight for at most {@code grace}; call {@link #close} afterwards.
     */
    void drain(Duration grace) {
        advance(Mode.DRAINING);
        Replica unused = awaitStop(Math.min(EngineLimits.UNLIMITED_NANOS, TimeUnit.NANOSECONDS.convert(grace)));
    }

    /** Waits up to {@code limitNanos} for all workers to stop; returns a worker that has not stopped, or null. */
    private @Nullable Replica awaitStop(long limitNanos) {
        long startNanos = clock.nanos();
        for (Replica replica : replicas) {
            if (!replica.awaitStop(limitNanos - (clock.nanos() - startNanos))) {
                return replica;
            }
        }
        return null;
    }

    /** Returns whether so far the engine has not failed and every request ended by itself. */
    boolean hasCompletedAll() {
        return failureOutcome == null && !inFlight.hasTerminated();
    }

    private void advance(Mode target) {
        Mode seen = Objects.requireNonNull(mode.get());
        while (seen.compareTo(target) < 0 && !mode.compareAndSet(seen, target)) {
            seen = Objects.requireNonNull(mode.get());
        }
        for (Replica replica : replicas) {
            replica.unpark();
        }
    }
}
