package io.roseinfer.engine.routing;

/** See {@link RoutingPolicy#prefix}. */
final class PrefixAware extends LeastCost {
    @Override
    double cost(RoutedRequest request, ReplicaView replica) {
        int own = request.promptTokens() - replica.cachedTokens(request);
        return (double) replica.uncomputedPromptTokens() + own + replica.requests();
    }

    @Override
    public boolean usesPrefixes() {
        return true;
    }

    @Override
    public String toString() {
        return "prefix";
    }
}
