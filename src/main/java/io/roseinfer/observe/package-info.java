/**
 * Observers of an engine: {@link io.roseinfer.observe.StepObserver} is notified of each
 * {@link io.roseinfer.observe.StepEvent}, {@link io.roseinfer.observe.RequestObserver} of each
 * {@link io.roseinfer.observe.RequestEvent}; {@link io.roseinfer.observe.Observers} collects those of
 * one engine. Implementations here are the step log and the Flight Recorder events. NVTX ranges are in
 * {@code backend.cuda.nvtx}, counters in {@code engine}.
 *
 * <p>A new observer implements one or both interfaces and is passed to {@code LoadedModel.serve}, or named by
 * {@code --observe}.
 */
@NullMarked
package io.roseinfer.observe;

import org.jspecify.annotations.NullMarked;
