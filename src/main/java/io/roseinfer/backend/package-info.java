/**
 * The interface between engine and devices. A {@link io.roseinfer.backend.Backend} loads a model into a
 * {@link io.roseinfer.backend.ModelRunner}, which owns weights and KV memory and runs one ragged batch of tokens per step.
 *
 * <p>A step is two calls, {@code submit} and {@code await}, so that the host can schedule and emit while the device works.
 * A runner allocates all memory in {@code load}. Inputs and outputs are preallocated structs of arrays; block tables are in
 * compressed-row form, without padding. Every runner checks a step's indices before using them
 * ({@link io.roseinfer.backend.StepCheck}). A runner that can time its operators is also a
 * {@link io.roseinfer.backend.StepProfiler.Source}.
 *
 * <p>Subpackages are the built-in devices: {@code cpu}, {@code cuda}, and {@code sim}, a deterministic simulated model that tests use
 * instead of mocks. A program adds a device with {@code Settings.withBackend}, a command line with {@code --device}.
 */
@NullMarked
package io.roseinfer.backend;

import org.jspecify.annotations.NullMarked;
