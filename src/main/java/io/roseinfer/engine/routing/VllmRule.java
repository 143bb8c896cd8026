package io.roseinfer.engine.routing;

/** See {@link RoutingPolicy#vllm}. */
final class VllmRule extends LeastCost {
    private static final double MIN_USE = 0.5;
    private static final double WEIGHT = 6;

    @Override
    double cost(RoutedRequest request, ReplicaView replica) {
        double use = (double) replica.heldTokens() / replica.poolTokens();
        return replica.requests() + WEIGHT * replica.waiting() * Math.max(0, use - MIN_USE);
    }

    @Override
    public String toString() {
        return "vllm";
    }
}
