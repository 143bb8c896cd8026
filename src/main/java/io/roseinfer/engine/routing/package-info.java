/**
 * Which of several engines serves a request: policies, and what they are told of each engine.
 *
 * <p>A policy is asked once for each request, on the thread that submits it, and never waits for an engine: what it reads are
 * counters that each engine's loop publishes once a step and that submissions add to. Nothing here is sampled, scraped or guessed.
 */
@NullMarked
package io.roseinfer.engine.routing;

import org.jspecify.annotations.NullMarked;
