/**
 * Replays recorded runs, also with changed settings, in simulated time. {@link io.roseinfer.bench.replay.SimulatedServer} runs a
 * {@link io.roseinfer.engine.VirtualEngine} with step durations of a {@link io.roseinfer.bench.replay.CostModel}: a
 * {@link io.roseinfer.bench.replay.CostTable}, which {@link io.roseinfer.bench.replay.CostFit} fits to the steps of
 * {@link io.roseinfer.bench.replay.RecordedRun}s, a {@link io.roseinfer.bench.replay.Roofline}, or a custom one.
 * {@link io.roseinfer.bench.replay.FleetPlan} describes engines that fail, start and stop.
 * {@link io.roseinfer.bench.replay.Prediction} compares a recorded run with
 * its replays.
 *
 * <p>Invariants: loop, scheduler, KV pool, prefix cache and routing are the engine's, not models of them; nothing here reads a clock, so a
 * simulated run is identical on every machine.
 *
 * <p>Why costs of whole steps: summing operators would add errors, and every run with recorded steps can serve as calibration.
 */
@NullMarked
package io.roseinfer.bench.replay;

import org.jspecify.annotations.NullMarked;
