package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.PolicyFailure;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One or several {@link Replica}s behind one door. Requests are handed over from any thread, at most so many at a time; each goes to
 * the replica that a {@link RoutingPolicy} names, or waits in a {@link SharedQueue} until one takes it.
 *
 * <p>A request that was accepted gets exactly one ending: from its caller or a tokenizer until a replica has it, then from that
 * replica's loop or, if the replica dies, from its last act. What a dead replica had and nobody has seen a token of goes to the others.
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

    /** Longest that {@link #close} waits for the workers: devices give two steps up in less, which each may take a minute. */
    static final long STOP_LIMIT_NANOS = 150_000_000_000L;

    /** How long {@link #close} waits before it looks at {@link #telling} again. Telling takes less, unless an observer is slow. */
    private static final long TELLING_NANOS = 50_000;

    private final Clock clock;
    private final RequestObserver requests;
    private final RoutingPolicy routing;
    private final int maxInflightRequests;
    private final int blockSize;
    private final TokenizeWorkers tokenizers;
    private final SharedQueue shared = new SharedQueue(this::expire);
    private final List<Replica> replicas;

    private final AtomicInteger inflight = new AtomicInteger();

    /** Threads that may have claimed an ending and not told it yet: who closes waits for them, whatever threads they are. */
    private final AtomicInteger telling = new AtomicInteger();

    private final AtomicInteger rotation = new AtomicInteger();
    private final AtomicReference<Mode> mode = new AtomicReference<>(Mode.SERVING);

    /** The loads of the replicas that serve. */
    private volatile List<ReplicaLoad> living;

    private volatile int left;
    private volatile @Nullable Ending death;

    /** Whether a request was ended because a replica ended. */
    private volatile boolean hasCut;

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
        this.maxInflightRequests = options.maxInflightRequests();
        this.blockSize = options.blockSize();
        this.clock = clock;
        this.tokenizers = tokenizers;
        this.requests = observers.requests();
        this.routing = runners.size() == 1 ? (request, only) -> 0 : routing;
        this.replicas = IntStream.range(0, runners.size())
                .mapToObj(i -> {
                    ModelRunner runner = runners.get(i);
                    return new Replica(this, i, runner, EngineLimits.pool(runner, options), options, clock, observers);
                })
                .toList();
        this.living = loads();
        this.left = replicas.size();
        shared.takersChanged(left);
    }

    void start() {
        for (Replica replica : replicas) {
            replica.start();
        }
    }

    boolean looksAtPrefixes() {
        return routing.looksAtPrefixes();
    }

    SharedQueue shared() {
        return shared;
    }

    void noteCut() {
        hasCut = true;
    }

    int maxInflightRequests() {
        return maxInflightRequests;
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
        if (inflight.decrementAndGet() == 0) {
            for (Replica replica : replicas) {
                replica.wake();
            }
        }
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
        if (left == 0) {
            throw new EngineStopped("the engine stopped; open another one");
        }
    }

    /** Gives a request that was counted in to a replica, or to all of them, with its prompt's ids. */
    void submit(LiveRequest request, int[] prompt) {
        if (looksAtPrefixes()) {
            request.prefixes(PublishedPrefixes.of(prompt, blockSize));
        }
        List<ReplicaLoad> candidates = living;
        int chosen = choose(request, candidates);
        if (chosen == RoutingPolicy.SHARED_QUEUE) {
            request.attach(replicas.getFirst().loop().sequenceOf(request, prompt));
            watchDeadline(request);
            shared.add(request);
            wakeOne();
            endUnrouted();
            return;
        }
        Replica replica = replicas.get(candidates.get(chosen).index());
        if (request.handOver(replica.loop())) {
            shared.unwatch(request);
            replica.submit(request, prompt);
        }
    }

    private int choose(LiveRequest request, List<ReplicaLoad> candidates) {
        try {
            int chosen = routing.choose(request, candidates);
            if (chosen < RoutingPolicy.SHARED_QUEUE || chosen >= candidates.size()) {
                throw new PolicyFailure.Misuse("chose engine " + chosen + " of " + candidates.size()
                        + "; allowed are 0 to " + (candidates.size() - 1) + ", and -1 for the shared queue");
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
        if (shared.watch(request)) {
            wakeSleeper();
        }
        if (request.hasEnded()) {
            shared.unwatch(request);
        }
    }

    /** Queues a request again that a replica had. */
    void takeBack(LiveRequest request) {
        if (request.giveBack()) {
            watchDeadline(request);
            shared.addBack(request);
            wakeOne();
            if (request.isCancelled()) {
                // Its caller may have seen it with the replica, which has forgotten it.
                cancel(request);
            }
        }
    }

    /** Wakes a replica that sleeps, if any does and something waits in the shared queue. */
    void wakeOne() {
        if (!shared.isEmpty()) {
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
        if (!endEarly(request, Ending.CANCELLED) && !request.hasEnded()) {
            request.loop().cancel(request);
        }
    }

    /** Ends a request that was counted in and whose deadline has passed before a replica had it. */
    private void expire(LiveRequest request) {
        boolean unused = endEarly(request, Ending.DEADLINE);
    }

    private boolean endEarly(LiveRequest request, Ending ending) {
        telling.incrementAndGet();
        try {
            boolean claimed = request.claimEarlyEnding();
            if (claimed) {
                if (request.sequence().isPresent()) {
                    shared.forget(request);
                } else {
                    tokenizers.remove(request);
                }
                unreserve();
                tell(request, ending);
            }
            return claimed;
        } finally {
            telling.decrementAndGet();
        }
    }

    /** Ends a request that was counted in and that no loop has. */
    void end(LiveRequest request, Ending ending) {
        telling.incrementAndGet();
        try {
            if (request.claimEnding()) {
                unreserve();
                tell(request, ending);
            }
        } finally {
            telling.decrementAndGet();
        }
    }

    /** Ends a request that was counted in and that no loop has, as the engine ends. */
    void endWithEngine(LiveRequest request) {
        telling.incrementAndGet();
        try {
            if (request.claimEnding()) {
                hasCut = true;
                unreserve();
                tell(request, ownEnding());
            }
        } finally {
            telling.decrementAndGet();
        }
    }

    /** How requests end that end with the engine. */
    Ending ownEnding() {
        Ending ending = death;
        return ending == null ? Ending.CANCELLED : ending;
    }

    private void tell(LiveRequest request, Ending ending) {
        shared.unwatch(request);
        if (request.end(ending, clock.nanos())) {
            requests.ended(request, ending.reason());
        }
    }

    /** Forgets a request that was counted in and that nobody reads. */
    void discard(LiveRequest request) {
        if (request.claimEnding()) {
            shared.unwatch(request);
            unreserve();
            requests.withdrawn(request);
        }
    }

    /** The figures of all replicas together. */
    EngineStats stats() {
        EngineStats all = replicaStats().stream().reduce(EngineStats::plus).orElseThrow();
        return all.plusWaiting(shared.size() + tokenizers.size());
    }

    /** The figures of each replica; what waits in the shared queue is in none. */
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
        return now == Mode.SERVING || (now == Mode.DRAINING && inflight.get() > 0);
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
        shared.takersChanged(-1);
        living = living.size() == 1
                ? living
                : living.stream()
                        .filter(load -> load.index() != replica.index())
                        .toList();
        // It may be the one that was woken for what waits there.
        wakeOne();
        return last;
    }

    /** Ends what no loop has, if no worker is left to take it. */
    void endUnrouted() {
        if (left == 0 || mode.get() == Mode.STOPPING) {
            shared.endAll(this::endWithEngine);
            endTokenizing();
        }
    }

    /** Ends the requests that wait for a tokenizer or have one. */
    void endTokenizing() {
        tokenizers.stop(this::endWithEngine);
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
        // Requests that were handed over while a worker stopped, or that it had no memory to end, end here.
        replicas.forEach(Replica::endRemaining);
        long startNanos = clock.nanos();
        while (telling.get() > 0 && clock.nanos() - startNanos < STOP_LIMIT_NANOS) {
            LockSupport.parkNanos(this, TELLING_NANOS);
        }
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
        return death == null && !hasCut;
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
