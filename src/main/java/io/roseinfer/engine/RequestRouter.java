package io.roseinfer.engine;

import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.kv.PublishedPrefixes;
import io.roseinfer.scheduler.ExtensionFailure;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
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

    private final Function<ReplicaLoad, ReplicaView> views;

    /** The loads of the live replicas by number, and their views; after a failure of the last one it stays. */
    private volatile Live live = new Live(List.of(), List.of());

    private boolean hasNone = true;

    private record Live(List<ReplicaLoad> loads, List<ReplicaView> views) {}

    /** Creates a router without replicas, whose policy sees the current loads. */
    RequestRouter(RoutingPolicy routing, EngineOptions options, InFlight inFlight) {
        this(routing, options, inFlight, load -> load);
    }

    /**
     * Creates a router without replicas.
     *
     * @param views returns what the policy sees of a replica
     */
    RequestRouter(
            RoutingPolicy routing, EngineOptions options, InFlight inFlight, Function<ReplicaLoad, ReplicaView> views) {
        ExtensionFailure.requireNotified(
                "routing policy", routing, options.scheduler().policies());
        this.routing = routing;
        this.views = views;
        this.blockSize = options.blockSize();
        this.inFlight = inFlight;
    }

    boolean usesPrefixes() {
        return routing.usesPrefixes();
    }

    /** Adds a replica that serves from now on. */
    synchronized void add(ReplicaLoad load) {
        setLive(Stream.concat(hasNone ? Stream.empty() : live.loads.stream(), Stream.of(load)));
        hasNone = false;
    }

    /** Removes a replica that no longer serves, and lets any other admit the requests bound to it. */
    synchronized void remove(int replica) {
        if (live.loads.size() > 1) {
            setLive(live.loads.stream().filter(load -> load.index() != replica));
        } else {
            hasNone = true;
        }
        inFlight.unbindAll(replica);
    }

    private void setLive(Stream<ReplicaLoad> loads) {
        List<ReplicaLoad> sorted =
                loads.sorted(Comparator.comparingInt(ReplicaLoad::index)).toList();
        live = new Live(sorted, sorted.stream().map(views).toList());
    }

    /** Returns what the policy sees of the live replicas, by number. */
    synchronized List<ReplicaView> views() {
        return hasNone ? List.of() : live.views;
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
        Live candidates = live;
        int chosen = ask(request, candidates.views);
        return chosen == RoutingPolicy.SHARED_QUEUE ? Optional.empty() : Optional.of(candidates.loads.get(chosen));
    }

    private int ask(LiveRequest request, List<ReplicaView> candidates) {
        RoutedView view = new RoutedView(request, usesPrefixes());
        try {
            int chosen = routing.choose(view, candidates);
            if (chosen < RoutingPolicy.SHARED_QUEUE || chosen >= candidates.size()) {
                throw new ExtensionFailure.Misuse("chose replica " + chosen + " of " + candidates.size()
                        + "; allowed are 0 to " + (candidates.size() - 1) + ", and -1 for any");
            }
            return chosen;
        } catch (Throwable thrown) {
            throw ExtensionFailure.ofRouting(routing, thrown);
        } finally {
            view.close();
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
        List<ReplicaLoad> all = live.loads;
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
