/**
 * Observers of an engine: a {@link io.roseinfer.observe.StepObserver} is called at each event of a step, a
 * {@link io.roseinfer.observe.RequestObserver} at those of requests; {@link io.roseinfer.observe.Observers} are those of one engine. The
 * step log and the flight recorder's events are here; a profiler's ranges are in {@code backend.cuda.nvtx}, the counters in
 * {@code engine}.
 *
 * <p>A new observer is one class that implements either interface, or both, and one line that hands it to {@code Engine.open}.
 */
@NullMarked
package io.roseinfer.observe;

import org.jspecify.annotations.NullMarked;
