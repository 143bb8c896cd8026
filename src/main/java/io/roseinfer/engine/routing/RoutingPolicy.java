package io.roseinfer.engine.routing;

import java.util.List;

/**
 * Which of several engines serves a request. A policy either names one, for good, or leaves the request to any: then an engine that has
 * a free place ranks it with all others that it may admit.
 *
 * <p>This is the place for routing research: implement it and hand it to the engine. It is asked on the threads that submit, several
 * at a time, so what state it has must bear that; it must not wait, and must give an answer for any request. An engine that dies is
 * not offered any more. Requests that it had and that have no token yet wait for any of the others.
 */
public interface RoutingPolicy {
    /** The answer of {@link #choose} that leaves a request to any engine. */
    int SHARED_QUEUE = -1;

    /**
     * Chooses an engine.
     *
     * @param request has not been given to any
     * @param living the engines that are alive, at least one, in the order of their numbers
     * @return an index into {@code living}, or {@link #SHARED_QUEUE}
     */
    int choose(RoutedRequest request, List<? extends ReplicaView> living);

    /** Whether it asks for prefixes, which engines publish and prompts are hashed for only then. */
    default boolean looksAtPrefixes() {
        return false;
    }

    /** Leaves every request to any engine: no engine is idle while a request waits, and none is bound to an engine too early. */
    static RoutingPolicy pull() {
        return new Pull();
    }

    /** Each engine in turn, whatever it has to do. */
    static RoutingPolicy roundRobin() {
        return new RoundRobin();
    }

    /** The engine whose requests can take the fewest tokens still. */
    static RoutingPolicy leastTokens() {
        return new LeastTokens();
    }

    /**
     * The engine that has the fewest prompt tokens to compute until the request's first token: those of requests before it, and those of
     * its own that are not in the engine's prefix cache. A request that decodes counts as one token, which it is in every step.
     */
    static RoutingPolicy prefix() {
        return new PrefixAware();
    }

    /**
     * vLLM's internal load balancer for data parallelism, as of 2026: the lowest of
     * {@code max(requests in flight, waiting + running) + 6 · waiting · max(0, KV use − 0.5)}. Here all figures are exact, and the first two
     * are one.
     */
    static RoutingPolicy vllm() {
        return new VllmRule();
    }

    /**
     * SGLang's gateway, {@code cache_aware}: where the longest and the shortest queue differ by more than 64 requests and by half of the
     * shorter, the shortest; else the engine to which most of the prompt's beginning was routed before if that is more than 0.3 of it; else the
     * shortest. What was routed is remembered by KV blocks here, and by characters there.
     */
    static RoutingPolicy sglang() {
        return new SglangRule();
    }

    /**
     * Dynamo's KV router with an overlap weight of 1 and a temperature of 0: the lowest of blocks to be computed, those of requests before it
     * and its own that are not cached, and blocks held, its own included. Here in tokens.
     */
    static RoutingPolicy dynamo() {
        return new DynamoRule();
    }
}
