package io.roseinfer.engine.routing;

/** See {@link RoutingPolicy#dynamo}. */
final class DynamoRule extends LeastCost {
    @Override
    double cost(RoutedRequest request, ReplicaView replica) {
        long prefill = replica.uncomputedPromptTokens() + request.promptTokens() - replica.cachedTokens(request);
        long decode = replica.heldTokens() + request.promptTokens();
        return (double) prefill + decode;
    }

    @Override
    public boolean usesPrefixes() {
        return true;
    }

    @Override
    public String toString() {
        return "dynamo";
    }
}
