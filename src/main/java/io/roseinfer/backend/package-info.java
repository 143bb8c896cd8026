/**
 * The seam between the engine and the devices. A {@link io.roseinfer.backend.Backend} loads a model into a
 * {@link io.roseinfer.backend.ModelRunner}, which owns weights and KV memory and runs one ragged batch of tokens per step.
 *
 * <p>A step is two calls, {@code submit} and {@code await}, so that the host can schedule and emit while the device works.
 * Everything a runner will ever allocate it allocates in {@code load}. Inputs and outputs are preallocated structs of arrays;
 * block lists are in compressed-row form, so there is no padding to get wrong. Every runner holds a step's indices to the model
 * and the pool before it uses them: {@link io.roseinfer.backend.StepCheck}. A runner that can say where the time of its
 * steps goes, operator by operator, is a {@link io.roseinfer.backend.StepProfiler.Source} as well.
 *
 * <p>Packages below this one are the devices: {@code cpu}, {@code cuda}, and {@code sim}, a deterministic fake model that is a
 * first-class backend and what tests use instead of mocks.
 */
@NullMarked
package io.roseinfer.backend;

import org.jspecify.annotations.NullMarked;
