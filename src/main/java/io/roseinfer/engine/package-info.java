/**
 * The engine: many requests, one model, continuous batching.
 *
 * <p>Programs use {@link io.roseinfer.engine.Engine}, which any number of threads share, the immutable
 * {@link io.roseinfer.engine.GenerationRequest}, {@link io.roseinfer.engine.TokenStream}, which one thread reads and
 * any may close, and {@link io.roseinfer.engine.Completion}. Interrupting a thread that waits for tokens ends its
 * request. {@link io.roseinfer.engine.ChatPrompt} is a conversation as a request, with {@link io.roseinfer.engine.Tools}
 * that the model may call, and reads its reply.
 *
 * <p>The layers, from the inside out: a {@code Pipeline} keeps the steps of a scheduler and a runner in flight, and
 * notifies the observers. {@code EngineLoop} runs one step by step on the caller's thread, with cancellation, streams and
 * timestamps; {@link io.roseinfer.engine.OnlineScheduler} does so without these, for experiments and benchmarks. {@code Replica} runs a
 * loop on its own thread. {@code SchedulerManager} submits requests to replicas, with a limit on requests in flight and
 * a {@code RequestRouter} that asks a policy of {@link io.roseinfer.engine.routing}. {@link io.roseinfer.engine.Engine}
 * adds the tokenizer and is the public API. {@link io.roseinfer.engine.VirtualEngine} runs loops and router in virtual
 * time, without threads.
 *
 * <p>A single thread owns the scheduler, KV pool and runner of a replica. Requests reach it through the
 * {@link io.roseinfer.scheduler.WaitingQueue} that all replicas share, and cancellations through a queue of its loop.
 * Callers read tokens from their own stream. {@code InFlight} sets exactly one outcome for every accepted request.
 *
 * <p>A {@code Flight} is a step in flight: its plan, inputs, outputs and record. The {@code Pipeline} has a ring of
 * them, one more than the device accepts, and plans and packs the next step while the device computes. A flight is
 * planned again only after the next one has been awaited, so its outputs stay readable until then.
 *
 * <p>Any exception on a replica's thread stops that replica, even an {@link OutOfMemoryError}. Its requests are
 * then ended as far as memory allows; {@code close} ends the others. The engine does not survive a full heap: every path
 * would have to work without allocation, and the process would not be usable afterwards.
 */
@NullMarked
package io.roseinfer.engine;

import org.jspecify.annotations.NullMarked;
