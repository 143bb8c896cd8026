/**
 * Loads of benchmarks: an {@link io.roseinfer.bench.load.OfferedLoad} is a list of requests with send times. Prompts are a repeated text
 * ({@link io.roseinfer.bench.load.Prompts}), random ({@link io.roseinfer.bench.load.RandomPrompts}), from a file
 * ({@link io.roseinfer.bench.load.JsonlPrompts}) or from a trace ({@link io.roseinfer.bench.load.TraceFormat},
 * {@link io.roseinfer.bench.load.Trace}). Times come from {@link io.roseinfer.bench.load.Arrivals}, a fixed interval or the trace.
 *
 * <p>Invariant: a load is complete before measurement starts, and every run of a benchmark submits the same requests in the same order.
 *
 * <p>Why not create requests during the run: their creation would be part of the measurement.
 */
@NullMarked
package io.roseinfer.bench.load;

import org.jspecify.annotations.NullMarked;
