/**
 * The load of a benchmark: what is submitted ({@link io.roseinfer.bench.load.Workload},
 * {@link io.roseinfer.bench.load.PromptPlan}) and when ({@link io.roseinfer.bench.load.SubmitSchedule}). An
 * {@link io.roseinfer.bench.load.OfferedLoad} is both: requests that are made up ({@link io.roseinfer.bench.load.RandomPrompts}), listed
 * ({@link io.roseinfer.bench.load.JsonlPrompts}) or recorded ({@link io.roseinfer.bench.load.TraceFormat},
 * {@link io.roseinfer.bench.load.Trace}), at the times of {@link io.roseinfer.bench.load.Arrivals} or their own.
 *
 * <p>Invariant: a load is complete before anything is measured, and every run of a benchmark submits the same requests in the
 * same order.
 *
 * <p>Why not make requests while running: the making would be measured too.
 */
@NullMarked
package io.roseinfer.bench.load;

import org.jspecify.annotations.NullMarked;
