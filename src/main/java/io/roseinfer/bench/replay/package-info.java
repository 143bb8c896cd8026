/**
 * Runs again, and what they would have been: {@link io.roseinfer.bench.replay.SimulatedServer} is the engine's own scheduler on simulated
 * time, with steps as long as a {@link io.roseinfer.bench.replay.CostTable} says, which {@link io.roseinfer.bench.replay.CostFit} makes
 * of the steps of a measured run ({@link io.roseinfer.bench.replay.RecordedRun}). {@link io.roseinfer.bench.replay.Prediction} holds a
 * recorded run and its replays against each other.
 *
 * <p>Invariants: scheduler, KV pool and prefix cache are those of the engine, not a model of them; nothing here reads a clock, so a
 * simulated run is the same on every machine.
 *
 * <p>Why costs of whole steps: the error of adding operators up is never made, and every run that keeps its steps is a calibration.
 */
@NullMarked
package io.roseinfer.bench.replay;

import org.jspecify.annotations.NullMarked;
