package io.roseinfer.engine.routing;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A policy that gives each engine a cost and takes the lowest. Of equal ones the first from a place that moves on with each request. */
abstract class LeastCost implements RoutingPolicy {
    private final AtomicInteger rotation = new AtomicInteger();

    /** What it would cost to give the request to that engine; only comparisons matter. */
    abstract double cost(RoutedRequest request, ReplicaView replica);

    @Override
    public final int choose(RoutedRequest request, List<? extends ReplicaView> living) {
        int size = living.size();
        int first = Integer.remainderUnsigned(rotation.getAndIncrement(), size);
        int best = first;
        double lowest = cost(request, living.get(first));
        for (int i = 1; i < size; i++) {
            int at = (first + i) % size;
            double cost = cost(request, living.get(at));
            if (cost < lowest) {
                lowest = cost;
                best = at;
            }
        }
        return best;
    }
}
