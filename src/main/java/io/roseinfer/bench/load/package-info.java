/**
 * The load of a benchmark: an {@link io.roseinfer.bench.load.OfferedLoad} is requests and when they are sent. Their prompts are one
 * repeated prompt ({@link io.roseinfer.bench.load.Prompts}), made up ({@link io.roseinfer.bench.load.RandomPrompts}), listed
 * ({@link io.roseinfer.bench.load.JsonlPrompts}) or recorded ({@link io.roseinfer.bench.load.TraceFormat},
 * {@link io.roseinfer.bench.load.Trace}). Their times are those of {@link io.roseinfer.bench.load.Arrivals}, an interval or their own.
 *
 * <p>Invariant: a load is complete before anything is measured, and every run of a benchmark submits the same requests in the
 * same order.
 *
 * <p>Why not make requests while running: the making would be measured too.
 */
@NullMarked
package io.roseinfer.bench.load;

import org.jspecify.annotations.NullMarked;
