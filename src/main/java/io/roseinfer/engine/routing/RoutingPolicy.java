package io.roseinfer.engine.routing;

import io.roseinfer.base.RoseException.BadInput;
import java.util.List;

/**
 * Chooses the replica that serves a request. A policy either binds a request to one replica or leaves it to any; then a
 * replica with free capacity ranks it with all others that it may admit.
 *
 * <p>This is the extension point for routing research: implement it and pass it to the engine. Submitting threads and
 * the workers that tokenize and compile grammars call it concurrently, so state must be thread-safe. It must not block
 * and must return a result for any request. A failed replica is no longer offered; its requests without a token are
 * requeued for the others.
 */
public interface RoutingPolicy {
    /** Returned by {@link #choose} to leave a request to any replica. */
    int SHARED_QUEUE = -1;

    /**
     * Chooses a replica.
     *
     * @param request the request to route
     * @param liveReplicas the replicas that serve, at least one, ordered by number
     * @return an index into {@code liveReplicas}, or {@link #SHARED_QUEUE}
     */
    int choose(RoutedRequest request, List<? extends ReplicaView> liveReplicas);

    /** Returns whether the policy uses prefixes; only then are prompts hashed and caches published. */
    default boolean usesPrefixes() {
        return false;
    }

    /**
     * Returns the policy that leaves every request to any replica: no replica is idle while requests wait, and none is
     * bound too early.
     */
    static RoutingPolicy pull() {
        return new Pull();
    }

    /** Returns the policy that chooses replicas in turn, regardless of their load. */
    static RoutingPolicy roundRobin() {
        return new RoundRobin();
    }

    /** Returns the policy that chooses the replica with the fewest outstanding tokens. */
    static RoutingPolicy leastTokens() {
        return new LeastCost("least-tokens", false, (request, replica) -> replica.outstandingTokens());
    }

    /**
     * Returns the policy that chooses the replica with the fewest prompt tokens to compute until the request's first
     * token: those of earlier requests, and its own that are not in the prefix cache. A decoding request counts as one
     * token, as in every step.
     */
    static RoutingPolicy prefix() {
        return new LeastCost("prefix", true, (request, replica) -> {
            int own = request.promptTokens() - replica.cachedTokens(request);
            return replica.uncomputedPromptTokens() + own + replica.requests();
        });
    }

    /**
     * Returns the policy of vLLM's internal load balancer for data parallelism, as of 2026: the lowest
     * {@code max(requests in flight, waiting + running) + 6 · waiting · max(0, KV use − 0.5)}. Here all values are
     * exact, and the first two are equal.
     */
    static RoutingPolicy vllm() {
        return new LeastCost("vllm", false, (request, replica) -> {
            double use = (double) replica.heldTokens() / replica.poolTokens();
            return replica.requests() + 6 * replica.waiting() * Math.max(0, use - 0.5);
        });
    }

    /**
     * Returns the policy {@code cache_aware} of SGLang's gateway. If the longest and the shortest queue differ by more
     * than 64 requests and by half of the shorter one, it chooses the shortest. Otherwise it chooses the replica to
     * which the longest prefix was routed before, if that is more than 0.3 of the prompt, else the shortest queue. Here
     * prefixes are remembered in KV blocks, in SGLang in characters.
     */
    static RoutingPolicy sglang() {
        return new SglangRule();
    }

    /** Returns the policy of Dynamo's KV router with overlap weight 1, its default. */
    static RoutingPolicy dynamo() {
        return dynamo(1);
    }

    /**
     * Returns the policy of Dynamo's KV router with temperature 0. It minimizes the weighted blocks to compute, of
     * earlier requests and the uncached ones of this one, plus the blocks held, including those of this one. Here the
     * unit is tokens.
     *
     * @param overlapWeight weight of the blocks to compute; 0 only balances the blocks held
     * @throws BadInput unless it is 0 or more and finite
     */
    static RoutingPolicy dynamo(double overlapWeight) {
        BadInput.require(
                overlapWeight >= 0 && Double.isFinite(overlapWeight),
                "the overlap weight of dynamo",
                overlapWeight,
                "0 or more, and finite");
        return new LeastCost(overlapWeight == 1 ? "dynamo" : "dynamo:" + overlapWeight, true, (request, replica) -> {
            long prefill = replica.uncomputedPromptTokens() + request.promptTokens() - replica.cachedTokens(request);
            long decode = replica.heldTokens() + request.promptTokens();
            return overlapWeight * prefill + decode;
        });
    }
}
