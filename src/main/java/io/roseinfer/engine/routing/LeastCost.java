package io.roseinfer.engine.routing;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A policy that chooses the replica with the lowest cost. Ties are broken round-robin. */
abstract class LeastCost implements RoutingPolicy {
    private final AtomicInteger rotation = new AtomicInteger();

    /** Returns the cost of assigning the request to the replica; only comparisons matter. */
    abstract double cost(RoutedRequest request, ReplicaView replica);

    @Override
    public final int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
        int size = liveReplicas.size();
        int first = Integer.remainderUnsigned(rotation.getAndIncrement(), size);
        int best = first;
        double lowest = cost(request, liveReplicas.get(first));
        for (int i = 1; i < size; i++) {
            int at = (first + i) % size;
            double cost = cost(request, liveReplicas.get(at));
            if (cost < lowest) {
                lowest = cost;
                best = at;
            }
        }
        return best;
    }
}
