package io.roseinfer.engine.routing;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** See {@link RoutingPolicy#sglang}. */
final class SglangRule implements RoutingPolicy {
    private static final int IMBALANCED_BY = 64;
    private static final double IMBALANCED_RATIO = 1.5;
    private static final double MATCH = 0.3;

    /** Prefixes remembered of each engine, the least recently routed forgotten first. */
    private static final int REMEMBERED = 1 << 16;

    private final List<Routed> routed = new ArrayList<>();

    /** What was routed to one engine: a guess at what its cache holds. */
    private static final class Routed extends LinkedHashMap<Long, Boolean> {
        private static final long serialVersionUID = 1;

        Routed() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Boolean> eldest) {
            return size() > REMEMBERED;
        }

        int known(long[] prefixes) {
            int known = 0;
            while (known < prefixes.length && get(prefixes[known]) != null) {
                known++;
            }
            return known;
        }
    }

    @Override
    public synchronized int choose(RoutedRequest request, List<? extends ReplicaView> living) {
        int shortest = shortest(living);
        int chosen = isImbalanced(living) ? shortest : bestMatch(request, living, shortest);
        Routed memory = routedTo(living.get(chosen).index());
        for (long prefix : request.prefixes()) {
            memory.put(prefix, Boolean.TRUE);
        }
        return chosen;
    }

    private static int shortest(List<? extends ReplicaView> living) {
        int shortest = 0;
        for (int i = 1; i < living.size(); i++) {
            shortest = living.get(i).requests() < living.get(shortest).requests() ? i : shortest;
        }
        return shortest;
    }

    private static boolean isImbalanced(List<? extends ReplicaView> living) {
        int least = Integer.MAX_VALUE;
        int most = 0;
        for (ReplicaView replica : living) {
            least = Math.min(least, replica.requests());
            most = Math.max(most, replica.requests());
        }
        return most - least > IMBALANCED_BY && most > IMBALANCED_RATIO * least;
    }

    private int bestMatch(RoutedRequest request, List<? extends ReplicaView> living, int otherwise) {
        long[] prefixes = request.prefixes();
        int best = otherwise;
        int most = 0;
        for (int i = 0; i < living.size(); i++) {
            int known = routedTo(living.get(i).index()).known(prefixes);
            if (known > most) {
                most = known;
                best = i;
            }
        }
        return most > MATCH * prefixes.length ? best : otherwise;
    }

    private Routed routedTo(int index) {
        while (routed.size() <= index) {
            routed.add(new Routed());
        }
        return routed.get(index);
    }

    @Override
    public boolean looksAtPrefixes() {
        return true;
    }

    @Override
    public String toString() {
        return "sglang";
    }
}
