/**
 * Routing policies, which choose a replica per request from exact counters, without blocking.
 *
 * <p>A policy is called once per request, on the submitting thread. It reads counters that each replica's loop
 * publishes once per step and that submissions update. None of them are sampled or estimated.
 */
@NullMarked
package io.roseinfer.engine.routing;

import org.jspecify.annotations.NullMarked;
