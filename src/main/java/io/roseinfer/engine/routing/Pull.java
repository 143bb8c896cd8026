package io.roseinfer.engine.routing;

import java.util.List;

/** See {@link RoutingPolicy#pull}. */
record Pull() implements RoutingPolicy {
    @Override
    public int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas) {
        return SHARED_QUEUE;
    }

    @Override
    public String toString() {
        return "pull";
    }
}
