package io.roseinfer.engine.routing;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** See {@link RoutingPolicy#roundRobin}. */
final class RoundRobin implements RoutingPolicy {
    private final AtomicInteger next = new AtomicInteger();

    @Override
    public int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
        return Integer.remainderUnsigned(next.getAndIncrement(), liveReplicas.size());
    }

    @Override
    public String toString() {
        return "round-robin";
    }
}
