/**
 * Serving: many requests, one model, continuous batching.
 *
 * <p>A program meets {@link io.roseinfer.engine.Engine}, which any number of threads share; {@link io.roseinfer.engine.GenerationRequest},
 * which never changes; {@link io.roseinfer.engine.TokenStream}, which one thread reads and any may close; and
 * {@link io.roseinfer.engine.Completion}. An interrupt of a thread that waits for tokens ends its request.
 *
 * <p>Beneath, from the inside out: {@link io.roseinfer.engine.OnlineScheduler} drives scheduler and runner one step at a time on the
 * caller's thread; {@code EngineLoop} adds cancels, streams and stamps and can be stepped by hand; both keep their steps in
 * flight in a {@code Pipeline}, which notifies the observers;
 * {@code Replica} puts a loop on its own thread; {@code SchedulerManager} puts one or several of them behind a bounded door and a
 * policy of {@link io.roseinfer.engine.routing}; and {@link io.roseinfer.engine.Engine} adds the tokenizer and is what research code
 * imports.
 *
 * <p>One thread owns scheduler, KV pool and runner of a replica. Requests reach it through the
 * {@link io.roseinfer.scheduler.WaitingQueue} that all replicas share, cancels through a queue of its loop, and callers read their tokens
 * from their own stream. Every accepted request gets exactly one ending, by {@code InFlight}.
 *
 * <p>A {@code Flight} is what belongs to one step in flight: its plan, inputs, outputs and record. The {@code Pipeline} has a ring
 * of them, one more than a device takes at a time, and plans and packs the next step while the device computes. Flights are made
 * at start. A flight is planned again only when it has been applied and the next one has been awaited, so that its outputs can be
 * read until then.
 *
 * <p>Whatever a replica's thread throws ends that replica, an {@link OutOfMemoryError} included. Its requests then end on a best-effort
 * basis: those that there is no memory to end are ended by {@code close}. Why not survive a full heap: every path would have to do
 * without allocation, and the process has no way to continue that a user would want.
 */
@NullMarked
package io.roseinfer.engine;

import org.jspecify.annotations.NullMarked;
