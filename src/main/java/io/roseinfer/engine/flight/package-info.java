/**
 * Steps in flight. A {@link io.roseinfer.engine.flight.Flight} is what belongs to one step: its plan, its inputs, its outputs and
 * its record. The {@link io.roseinfer.engine.flight.Pipeline} has a ring of them, one more than a device takes at a time, plans
 * and packs the next while the device works on the ones before, and tells the observers where it is.
 *
 * <p>Invariants: flights are made at start and nothing is allocated afterwards; a flight is planned again only when it has been
 * applied and the one behind it has been awaited, so that its outputs can still be read until then; steps are awaited in the order
 * in which they were launched.
 *
 * <p>Why not a queue of steps: a step's memory would be found by one index and its plan by another.
 */
@NullMarked
package io.roseinfer.engine.flight;

import org.jspecify.annotations.NullMarked;
