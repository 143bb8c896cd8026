/**
 * Loads of benchmarks: an {@link io.roseinfer.bench.load.OfferedLoad} is a list of requests with send times. Prompts are a repeated text
 * ({@link io.roseinfer.bench.load.Prompts}), random ({@link io.roseinfer.bench.load.RandomPrompts}), from a file
 * ({@link io.roseinfer.bench.load.JsonlPrompts}) or from a trace ({@link io.roseinfer.bench.load.TraceFormat},
 * {@link io.roseinfer.bench.load.Trace}). Times come from {@link io.roseinfer.bench.load.Arrivals}, a fixed interval or the trace.
 *
 * <p>Invariant: every run of a benchmark submits the same requests in the same order.
 *
 * <p>A prompt is made when it is read ({@link io.roseinfer.bench.load.PromptSource}). Targets read all prompts before measurement starts, as
 * their creation would be part of it. In simulated time nothing is measured, so a prompt is made when its request arrives and dropped when
 * it ends: a trace of any length takes the memory of the requests in flight.
 */
@NullMarked
package io.roseinfer.bench.load;

import org.jspecify.annotations.NullMarked;
