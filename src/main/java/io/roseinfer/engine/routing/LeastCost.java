package io.roseinfer.engine.routing;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToDoubleBiFunction;

/** A policy that chooses the replica with the lowest cost. Ties are broken round-robin. */
final class LeastCost implements RoutingPolicy {
    private final String name;
    private final boolean usesPrefixes;
    private final ToDoubleBiFunction<RoutedRequest, ReplicaView> cost;
    private final AtomicInteger rotation = new AtomicInteger();

    /**
     * Creates a policy.
     *
     * @param cost returns the cost of assigning a request to a replica; only comparisons matter
     */
    LeastCost(String name, boolean usesPrefixes, ToDoubleBiFunction<RoutedRequest, ReplicaView> cost) {
        this.name = name;
        this.usesPrefixes = usesPrefixes;
        this.cost = cost;
    }

    @Override
    public int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
        int size = liveReplicas.size();
        int first = Integer.remainderUnsigned(rotation.getAndIncrement(), size);
        int best = first;
        double lowest = cost.applyAsDouble(request, liveReplicas.get(first));
        for (int i = 1; i < size; i++) {
            int at = (first + i) % size;
            double own = cost.applyAsDouble(request, liveReplicas.get(at));
            if (own < lowest) {
                lowest = own;
                best = at;
            }
        }
        return best;
    }

    @Override
    public boolean usesPrefixes() {
        return usesPrefixes;
    }

    @Override
    public String toString() {
        return name;
    }
}
