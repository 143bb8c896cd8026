package io.roseinfer.engine.routing;

/** See {@link RoutingPolicy#leastTokens}. */
final class LeastTokens extends LeastCost {
    @Override
    double cost(RoutedRequest request, ReplicaView replica) {
        return replica.outstandingTokens();
    }

    @Override
    public String toString() {
        return "least-tokens";
    }
}
