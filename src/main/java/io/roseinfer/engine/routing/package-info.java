/**
 * Routing policies, which choose a replica per request from exact counters, without blocking.
 *
 * <p>A policy is called once per request: on the submitting thread, or on a worker that tokenizes the prompt or compiles
 * a grammar. It sees the caller's facts about the request, such as its deadline and predicted length, and the counters of
 * replicas and of the shared queue. Each replica's loop publishes them once per step, and submissions update them. None
 * of them are sampled or estimated. In virtual time a policy may see older values ({@link io.roseinfer.engine.routing.ViewAge}), and a
 * {@link io.roseinfer.engine.routing.ScalePolicy} chooses how many replicas serve.
 */
@NullMarked
package io.roseinfer.engine.routing;

import org.jspecify.annotations.NullMarked;
