/**
 * The load of a benchmark: what is submitted ({@link io.roseinfer.bench.load.Workload},
 * {@link io.roseinfer.bench.load.PromptPlan}) and when ({@link io.roseinfer.bench.load.SubmitSchedule}).
 *
 * <p>Invariant: a load is complete before anything is measured, and every run of a benchmark submits the same requests in the
 * same order.
 *
 * <p>Why not make requests while running: the making would be measured too.
 */
@NullMarked
package io.roseinfer.bench.load;

import org.jspecify.annotations.NullMarked;
