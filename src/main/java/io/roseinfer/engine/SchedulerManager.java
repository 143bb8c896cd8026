package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.PolicyFailure;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One or several {@link Replica}s behind one door. Any thread submits requests. Each waits in the {@link WaitingQueue}, for the replica that
 * a {@link RoutingPolicy} names or for any, until a replica's scheduler admits it.
 *
 * <p>A request that a replica has admitted is ended by that replica's loop or, if the replica dies, by its last act. One of which nothing
 * has been seen waits again for the others then.
 */
final class SchedulerManager implements AutoCloseable {
    /** The replicas' orders; they only move down this list. */
    private enum Mode {
        SERVING,
        /** Accepts nothing more and works off what there is. */
        DRAINING,
        /** Ends what there is. */
        STOPPING
    }

    /** Requests by which a replica may be ahead of its share: one that is slow to come should not keep work from the others. */
    private static final int AHEAD = 8;

    /** Longest that {@link #close} waits for the workers: devices give two steps up in less, which each may take a minute. */
    static final long STOP_LIMIT_NANOS = 150_000_000_000L;

    private final Clock clock;
    private final RoutingPolicy routing;
    private final int blockSize;
    private final ModelSpec spec;
    private final TokenizeWorkers tokenizers;
    private final WaitingQueue waitingQueue;
    private final InFlight inFlight;
    private final List<Replica> replicas;

    private final AtomicInteger rotation = new AtomicInteger();
    private final AtomicReference<Mode> mode = new AtomicReference<>(Mode.SERVING);

    /** The loads of the replicas that serve. */
    private volatile List<ReplicaLoad> living;

    private volatile int left;
    private volatile @Nullable Ending death;

    /**
     * A manager whose replicas have not been started.
     *
     * @param runners one for each replica, at least one
     * @param tokenizers have the requests that were counted in and have no ids yet
     */
    SchedulerManager(
            List<? extends ModelRunner> runners,
            EngineOptions options,
            RoutingPolicy routing,
            Clock clock,
            Observers observers,
            TokenizeWorkers tokenizers) {
        this.blockSize = options.blockSize();
        this.spec = runners.getFirst().spec();
        this.clock = clock;
        this.tokenizers = tokenizers;
        this.waitingQueue = new WaitingQueue(runners.size());
        this.inFlight = new InFlight(
                options.maxInflightRequests(), clock, observers.requests(), waitingQueue, tokenizers, this::wakeAll);
        this.routing = runners.size() == 1 ? (request, only) -> 0 : routing;
        this.replicas = IntStream.range(0, runners.size())
                .mapToObj(i -> new Replica(this, i, runners.get(i), options, clock, observers))
                .toList();
        this.living = loads();
        this.left = replicas.size();
    }

    void start() {
        for (Replica replica : replicas) {
            replica.start();
        }
    }

    boolean looksAtPrefixes() {
        return routing.looksAtPrefixes();
    }

    InFlight inFlight() {
        return inFlight;
    }

    /**
     * Counts a request in.
     *
     * @throws io.roseinfer.base.RoseException.Overloaded if as many are in flight as there may be
     * @throws EngineStopped if the engine is closed or dead
     */
    void reserve() {
        requireServing();
        inFlight.reserve();
        try {
            // A worker that drains leaves when nothing is counted in, so what was counted in after that would be cut.
            requireServing();
        } catch (RuntimeException | Error e) {
            inFlight.unreserve();
            throw e;
        }
    }

    private void wakeAll() {
        for (Replica replica : replicas) {
            replica.wake();
        }
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
        if (left == 0) {
            throw new EngineStopped("the engine stopped; open another one");
        }
    }

    /** Has a request wait that was counted in, with its prompt's ids, for the replica that the routing policy names, or for any. */
    void submit(LiveRequest request, int[] prompt) {
        if (looksAtPrefixes()) {
            request.prefixes(PublishedPrefixes.prefixHashes(prompt, blockSize));
        }
        List<ReplicaLoad> candidates = living;
        int chosen = choose(request, candidates);
        int engine = chosen == RoutingPolicy.SHARED_QUEUE
                ? WaitingQueue.ANY
                : candidates.get(chosen).index();
        Sequence sequence = request.newSequence(prompt, spec);
        watchDeadline(request);
        if (engine != WaitingQueue.ANY) {
            request.charge(candidates.get(chosen), sequence);
        }
        if (!inFlight.enter(request, sequence, engine)) {
            request.discharge();
            return;
        }
        if (engine != WaitingQueue.ANY) {
            replicas.get(engine).wake();
        }
        wakeOne();
        endUnrouted();
    }

    private int choose(LiveRequest request, List<ReplicaLoad> candidates) {
        try {
            int chosen = routing.choose(request, candidates);
            if (chosen < RoutingPolicy.SHARED_QUEUE || chosen >= candidates.size()) {
                throw new PolicyFailure.Misuse("chose engine " + chosen + " of " + candidates.size()
                        + "; allowed are 0 to " + (candidates.size() - 1) + ", and -1 for any");
            }
            return chosen;
        } catch (Throwable thrown) {
            throw PolicyFailure.ofRouting(routing, thrown);
        }
    }

    /** Tokenizes a request that was counted in. */
    void tokenize(LiveRequest request) {
        watchDeadline(request);
        tokenizers.submit(request);
        if (request.hasEnded()) {
            // Its deadline may have passed before it was queued.
            tokenizers.remove(request);
        }
    }

    /** Has the replicas, also those that sleep, watch the deadline of a request that none of them has. */
    private void watchDeadline(LiveRequest request) {
        if (inFlight.watch(request)) {
            wakeSleeper();
        }
    }

    /** Has a request wait again that a replica had admitted. */
    void takeBack(LiveRequest request) {
        inFlight.enterAgain(request);
        watchDeadline(request);
        wakeOne();
        if (request.isCancelled()) {
            // Its caller may have left its ending to the replica, which has forgotten it.
            cancel(request);
        }
    }

    /**
     * Returns how many of the requests that any replica may admit one may admit now: as many as make its requests a fair share of all there
     * are; or more, up to a fair share of those that wait, as long as that brings it no more than {@value #AHEAD} ahead. None if it is busy
     * and another sleeps, which {@link #wakeOne} has woken.
     */
    int share(Replica replica) {
        List<ReplicaLoad> all = living;
        if (all.size() <= 1) {
            return Integer.MAX_VALUE;
        }
        return replica.loop().isBusy() && isAnyParked()
                ? 0
                : share(replica.loop().load(), all, waitingQueue.sharedCount());
    }

    /** As {@link #share(Replica)}, of the replicas that serve and so many requests that wait. */
    static int share(ReplicaLoad own, List<ReplicaLoad> all, int waiting) {
        int requests = waiting;
        for (int i = 0; i < all.size(); i++) {
            requests += all.get(i).requests();
        }
        int behind = Math.ceilDiv(requests, all.size()) - own.requests();
        return Math.max(behind, Math.min(Math.ceilDiv(waiting, all.size()), behind + AHEAD));
    }

    private boolean isAnyParked() {
        for (int i = 0; i < replicas.size(); i++) {
            if (replicas.get(i).isParked()) {
                return true;
            }
        }
        return false;
    }

    /** Wakes a replica that sleeps, if any does and a request waits that any may admit. */
    void wakeOne() {
        if (waitingQueue.sharedCount() > 0) {
            wakeSleeper();
        }
    }

    private void wakeSleeper() {
        int first = rotation.getAndIncrement();
        for (int i = 0; i < replicas.size(); i++) {
            Replica replica = replicas.get(Integer.remainderUnsigned(first + i, replicas.size()));
            if (replica.isParked()) {
                replica.wake();
                return;
            }
        }
    }

    /** Ends a request as soon as may be: at once if no replica has it, else by that one's loop. */
    void cancel(LiveRequest request) {
        // First: a replica that takes it from now on, perhaps from another that dies, ends it.
        request.cancel();
        int engine = inFlight.endEarly(request, Ending.CANCELLED) ? WaitingQueue.ANY : request.engine();
        if (engine != WaitingQueue.ANY && !request.hasEnded()) {
            Replica replica = replicas.get(engine);
            replica.loop().cancel(request);
            replica.wake();
        }
    }

    /** How requests end that end with the engine. */
    Ending ownEnding() {
        Ending ending = death;
        return ending == null ? Ending.CANCELLED : ending;
    }

    /** The counters of all replicas together, and of requests. */
    EngineStats stats(RequestCounts requests) {
        return EngineStats.together(replicaStats(), waitingQueue.sharedCount() + tokenizers.size(), requests);
    }

    /** The figures of each replica; what waits for any is in none. */
    List<EngineStats> replicaStats() {
        return replicas.stream().map(replica -> replica.loop().stats()).toList();
    }

    /** What each replica has to do. */
    List<ReplicaLoad> loads() {
        return replicas.stream().map(replica -> replica.loop().load()).toList();
    }

    /** Why a replica died; empty while it lives, and where it was closed. */
    Optional<RoseException> death(int replica) {
        return replicas.get(replica).death().flatMap(Ending::failure);
    }

    /** Whether workers are to go on. */
    boolean isServing() {
        Mode now = mode.get();
        return now == Mode.SERVING || (now == Mode.DRAINING && inFlight.count() > 0);
    }

    /** Whether a worker is left that could serve what another gives back. */
    boolean hasLiving() {
        return left > 0 && mode.get() != Mode.STOPPING;
    }

    /**
     * A worker serves no more.
     *
     * @param ending how requests end from now on if it is the last, and it died
     * @return whether it was the last
     */
    synchronized boolean leave(Replica replica, Optional<Ending> ending) {
        boolean last = left == 1;
        if (last) {
            // First: who sees that nobody is left finds it there.
            death = ending.orElse(null);
        }
        left--;
        living = living.size() == 1
                ? living
                : living.stream()
                        .filter(load -> load.index() != replica.index())
                        .toList();
        inFlight.leave(replica.index());
        // It may be the one that was woken for what waits for any.
        wakeOne();
        return last;
    }

    /** Ends what no loop has, if no worker is left to take it. */
    void endUnrouted() {
        if (left == 0 || mode.get() == Mode.STOPPING) {
            // In this order: what a tokenizer hands over in between waits, and is ended there.
            endTokenizing();
            inFlight.cutWaiting(ownEnding());
        }
    }

    /** Ends the requests that wait for a tokenizer or have one. */
    void endTokenizing() {
        tokenizers.stop(request -> inFlight.cutTokenizing(request, ownEnding()));
    }

    /**
     * Ends every request at once and stops; returns when the workers have.
     *
     * @throws EngineStopped if they do not within {@link #STOP_LIMIT_NANOS}; what they work with must not be freed then
     */
    @Override
    public void close() {
        advance(Mode.STOPPING);
        Replica late = awaitStop(STOP_LIMIT_NANOS);
        if (late != null) {
            endTokenizing();
            throw new EngineStopped("the engine's thread has not ended within "
                    + TimeUnit.NANOSECONDS.toSeconds(STOP_LIMIT_NANOS) + " s of being told to: "
                    + late.whereabouts()
                    + "; what it was serving gets no ending, and the model's memory stays allocated because that thread"
                    + " may still use it; end the process");
        }
        // Requests that came while a worker stopped, or that it had no memory to end, end here.
        replicas.forEach(Replica::endRemaining);
        inFlight.awaitEndings(STOP_LIMIT_NANOS);
    }

    /** Accepts nothing more and works off what there is for at most {@code grace}; {@link #close} is to follow. */
    void drain(Duration grace) {
        advance(Mode.DRAINING);
        Replica unused = awaitStop(Math.min(EngineLimits.UNLIMITED_NANOS, TimeUnit.NANOSECONDS.convert(grace)));
    }

    /** Waits at most so long for all workers to stop; one that has not, or null. */
    private @Nullable Replica awaitStop(long limitNanos) {
        long startNanos = clock.nanos();
        for (Replica replica : replicas) {
            if (!replica.awaitStop(limitNanos - (clock.nanos() - startNanos))) {
                return replica;
            }
        }
        return null;
    }

    /** Whether, so far, the engine has not failed and every request came to an ending of its own. */
    boolean hasWorkedOffAll() {
        return death == null && !inFlight.hasCut();
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
