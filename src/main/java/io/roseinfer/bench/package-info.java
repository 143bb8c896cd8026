/**
 * The benchmark people trust, as runs of an engine: {@link io.roseinfer.bench.StreamingBenchmark} makes a measured run of
 * {@code bench.http} several times and keeps the results ({@link io.roseinfer.bench.RunResult}, raw timestamps only), which
 * {@code bench.report} prints. {@link io.roseinfer.bench.SchedulerBenchmark} leaves engine and streams out and drives the
 * scheduler alone, {@link io.roseinfer.bench.StepCostBenchmark} leaves the model out too, and
 * {@link io.roseinfer.bench.ModelBenchmark} times single steps of a model.
 *
 * <p>Invariants: every run has a fresh engine; a request that fails for any reason but overload fails the benchmark; nothing is
 * computed between a submit's two stamps.
 *
 * <p>Why not measure at the reader: a stamp is taken when the engine has the token, so what is measured is the engine and not
 * how soon a reading thread gets its turn. The reader is there so that delivering costs what it costs in life.
 */
@NullMarked
package io.roseinfer.bench;

import org.jspecify.annotations.NullMarked;
