package io.roseinfer.engine;

import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.scheduler.PolicyFailure;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Distributes requests over the live replicas, for engines on threads and in virtual time: a {@link RoutingPolicy}
 * binds a request to a replica or shares it, and shared requests are divided evenly. Any thread may call the methods
 * that choose, enqueue and share.
 */
final class RequestRouter {
    /**
     * Requests by which a replica may exceed its share, so that a replica that is slow to wake does not keep work from the
     * others.
     */
    private static final int MAX_LEAD = 8;

    private final RoutingPolicy routing;
    private final int blockSize;
    private final InFlight inFlight;

    /** The loads of the live replicas by number; after a failure of the last one it stays. */
    private volatile List<ReplicaLoad> live = List.of();

    /** Creates a router without replicas. */
    RequestRouter(RoutingPolicy routing, EngineOptions options, InFlight inFlight) {
        this.routing = routing;
        this.blockSize = options.blockSize();
        this.inFlight = inFlight;
    }

    boolean usesPrefixes() {
        return routing.usesPrefixes();
    }

    /** Adds a replica that serves from now on. */
    synchronized void add(ReplicaLoad load) {
        live = Stream.concat(live.stream(), Stream.of(load))
                .sorted(Comparator.comparingInt(ReplicaLoad::index))
                .toList();
    }

    /** Removes a replica that no longer serves, and lets any other admit the requests bound to it. */
    synchronized void remove(int replica) {
        if (live.size() > 1) {
            live = live.stream().filter(load -> load.index() != replica).toList();
        }
        inFlight.unbindAll(replica);
    }

    /** Returns whether more than one replica serves. */
    boolean hasSeveral() {
        return live.size() > 1;
    }

    /**
     * Returns the replica that the policy chooses for a request, or empty if any may admit it.
     *
     * @param prompt the prompt's ids; the policy may need their hashes
     * @throws io.roseinfer.base.RoseException if the policy fails
     */
    Optional<ReplicaLoad> choose(LiveRequest request, int[] prompt) {
        if (usesPrefixes() && !request.reportsPrompt()) {
            request.prefixes(PublishedPrefixes.prefixHashes(prompt, blockSize));
        }
        List<ReplicaLoad> candidates = live;
        int chosen = ask(request, candidates);
        return chosen == RoutingPolicy.SHARED_QUEUE ? Optional.empty() : Optional.of(candidates.get(chosen));
    }

    private int ask(LiveRequest request, List<ReplicaLoad> candidates) {
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

    /**
     * Adds a reserved request to the waiting queue.
     *
     * @param chosen the replica that may admit it; empty for any
     * @return false if it has already ended
     */
    boolean enqueue(LiveRequest request, Sequence sequence, Optional<ReplicaLoad> chosen) {
        chosen.ifPresent(load -> request.addLoad(load, sequence));
        boolean isQueued = inFlight.enqueue(
                request, sequence, chosen.map(ReplicaLoad::index).orElse(WaitingQueue.ANY));
        if (!isQueued) {
            request.removeLoad();
        }
        return isQueued;
    }

    /**
     * Returns how many shared requests a replica may admit now. It gets as many as make its requests a fair share of
     * all. It may also take a fair share of the waiting ones, as long as it leads by no more than {@value #MAX_LEAD}
     * requests.
     */
    int share(ReplicaLoad own) {
        List<ReplicaLoad> all = live;
        return all.size() <= 1
                ? Integer.MAX_VALUE
                : share(own, all, inFlight.waitingQueue().sharedCount());
    }

    /** Returns the share of {@code own} among these replicas with this number of waiting requests. */
    static int share(ReplicaLoad own, List<ReplicaLoad> all, int waiting) {
        int requests = waiting;
        for (int i = 0; i < all.size(); i++) {
            requests += all.get(i).requests();
        }
        int deficit = Math.ceilDiv(requests, all.size()) - own.requests();
        return Math.max(deficit, Math.min(Math.ceilDiv(waiting, all.size()), deficit + MAX_LEAD));
    }
}
