/**
 * Serving: many requests, one model, continuous batching.
 *
 * <p>From the inside out: {@link io.roseinfer.engine.OnlineScheduler} drives scheduler and runner one step at a time on the
 * caller's thread; {@code EngineLoop} adds commands, streams and stamps and can be stepped by hand; both keep their steps in
 * flight in a {@link io.roseinfer.engine.flight.Pipeline}, which tells the instruments of {@code observe};
 * {@link io.roseinfer.engine.SchedulerManager} puts the loop on its own thread behind a bounded queue; and
 * {@link io.roseinfer.engine.Engine} adds the tokenizer and is what research code imports.
 *
 * <p>One thread owns scheduler, KV pool and runner. Other threads reach it through the command queue only, and read their
 * tokens from their own stream. Every accepted request gets exactly one ending.
 */
@NullMarked
package io.roseinfer.engine;

import org.jspecify.annotations.NullMarked;
