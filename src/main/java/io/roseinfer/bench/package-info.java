/**
 * The benchmark people trust: what is submitted ({@link io.roseinfer.bench.Workload}), when
 * ({@link io.roseinfer.bench.SubmitSchedule}), what came of it ({@link io.roseinfer.bench.RunResult}, raw stamps only), and how it
 * is told ({@link io.roseinfer.bench.StreamingReport} and {@link io.roseinfer.bench.OperatorReport} as text, {@link io.roseinfer.bench.JsonReport} as JSON; its Javadoc
 * explains every field). {@link io.roseinfer.bench.SchedulerBenchmark} leaves engine and streams out and drives the scheduler
 * alone; {@link io.roseinfer.bench.StepCostBenchmark} leaves the model out too. {@link io.roseinfer.bench.TimelineTrace} shows
 * runs step by step.
 *
 * <p>Invariants: a report is a pure function of results, so it is tested by comparing text; every run has a fresh engine; a
 * request that fails for any reason but overload fails the benchmark; nothing is computed between a submit's two stamps.
 *
 * <p>Why not measure at the reader: a stamp is taken when the engine has the token, so what is measured is the engine and not
 * how soon a reading thread gets its turn. The reader is there so that delivering costs what it costs in life.
 */
@NullMarked
package io.roseinfer.bench;

import org.jspecify.annotations.NullMarked;
