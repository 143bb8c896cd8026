package io.roseinfer.engine.routing;

import io.roseinfer.base.RoseException.BadInput;

/**
 * The age of the replica state that a router sees if it learns of its replicas by messages. All values of a
 * {@link ReplicaView} are then as old: requests, running, outstanding and predicted tokens, KV use, and the contents of
 * the prefix cache. Only the shared queue is current, as it is the router's own.
 *
 * <p>A router knows what it has sent. So a view may add the requests that were routed to the replica since, as waiting
 * ones, with the cached tokens that the router expected. The routers of vLLM, SGLang and Dynamo count like this; one
 * that only reads the metrics of its servers does not, and may herd. No view reflects requests that have ended since.
 *
 * @param nanos the age, at least 0; 0 shows the current state
 * @param countsSent whether requests are counted that were routed since then
 */
public record ViewAge(long nanos, boolean countsSent) {
    /** The current state. */
    public static final ViewAge NONE = new ViewAge(0, true);

    public ViewAge {
        BadInput.require(nanos >= 0, "the age of views in nanoseconds", nanos, "0 or more");
    }
}
