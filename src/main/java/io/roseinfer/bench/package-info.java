/**
 * Benchmarks of an engine and its parts. {@link io.roseinfer.bench.StreamingBenchmark} repeats a load run of {@code bench.http} and keeps
 * raw timestamps ({@link io.roseinfer.bench.RunResult}), which {@code bench.report} summarizes.
 * {@link io.roseinfer.bench.SchedulerBenchmark} drives the scheduler without engine and streams,
 * {@link io.roseinfer.bench.StepCostBenchmark} also without a model, and {@link io.roseinfer.bench.ModelBenchmark} times single steps of
 * a model.
 *
 * <p>Invariants: every run has a new engine; a request that fails for any reason but overload fails the benchmark; nothing is computed
 * between the two timestamps around a submit call.
 *
 * <p>Why not measure at the reader: the engine takes a token's timestamp itself, so the scheduling of reader threads is not measured.
 * Readers only make the cost of delivery realistic.
 */
@NullMarked
package io.roseinfer.bench;

import org.jspecify.annotations.NullMarked;
