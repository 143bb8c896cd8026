package io.roseinfer.engine.routing;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** See {@link RoutingPolicy#sglang}. */
final class SglangRule implements RoutingPolicy {
    private static final int MIN_IMBALANCE = 64;
    private static final double MIN_IMBALANCE_RATIO = 1.5;
    private static final double MIN_MATCH = 0.3;

    /** Maximum prefixes remembered per replica; the least recently routed are dropped. */
    private static final int MAX_PREFIXES = 1 << 16;

    private final List<Routed> routed = new ArrayList<>();

    /** The prefixes routed to one replica, as an estimate of its cache. */
    private static final class Routed extends LinkedHashMap<Long, Boolean> {
        private static final long serialVersionUID = 1;

        Routed() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > MAX_PREFIXES;
        }

        int countKnown(RoutedRequest request) {
            int known = 0;
            while (known < request.prefixes() && get(request.prefix(known)) != null) {
                known++;
            }
            return known;
        }
    }

    @Override
    public synchronized int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
        int shortest = shortest(liveReplicas);
        int chosen = isImbalanced(liveReplicas) ? shortest : bestMatch(request, liveReplicas, shortest);
        Routed routedBefore = routedTo(liveReplicas.get(chosen).index());
        for (int i = 0; i < request.prefixes(); i++) {
            routedBefore.put(request.prefix(i), Boolean.TRUE);
        }
        return chosen;
    }

    private static int shortest(List<? extends ReplicaView> liveReplicas) {
        int shortest = 0;
        for (int i = 1; i < liveReplicas.size(); i++) {
            shortest =
                    liveReplicas.get(i).requests() < liveReplicas.get(shortest).requests() ? i : shortest;
        }
        return shortest;
    }

    private static boolean isImbalanced(List<? extends ReplicaView> liveReplicas) {
        int min = Integer.MAX_VALUE;
        int max = 0;
        for (ReplicaView replica : liveReplicas) {
            min = Math.min(min, replica.requests());
            max = Math.max(max, replica.requests());
        }
        return max - min > MIN_IMBALANCE && max > MIN_IMBALANCE_RATIO * min;
    }

    private int bestMatch(RoutedRequest request, List<? extends ReplicaView> liveReplicas, int otherwise) {
        int best = otherwise;
        int max = 0;
        for (int i = 0; i < liveReplicas.size(); i++) {
            int known = routedTo(liveReplicas.get(i).index()).countKnown(request);
            if (known > max) {
                max = known;
                best = i;
            }
        }
        return max > MIN_MATCH * request.prefixes() ? best : otherwise;
    }

    private Routed routedTo(int index) {
        while (routed.size() <= index) {
            routed.add(new Routed());
        }
        return routed.get(index);
    }

    @Override
    public boolean usesPrefixes() {
        return true;
    }

    @Override
    public String toString() {
        return "sglang";
    }
}
