/**
 * Instruments: who is told what the engine does, while it does it. A {@link io.roseinfer.observe.StepObserver} hears of steps, a
 * {@link io.roseinfer.observe.RequestObserver} of requests; {@link io.roseinfer.observe.Observers} tells several. The step log and
 * the flight recorder's events are here; a profiler's ranges are in {@code backend.cuda.nvtx}, the counters in {@code engine}.
 *
 * <p>A new instrument is one class that implements either interface, or both, and one line that hands it to
 * {@code Engine.open}.
 */
@NullMarked
package io.roseinfer.observe;

import org.jspecify.annotations.NullMarked;
