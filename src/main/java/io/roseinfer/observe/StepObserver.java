package io.roseinfer.observe;

import io.roseinfer.metrics.StepRecord;

/**
 * Hears of an engine's steps on the thread that runs them, in this order for each:
 *
 * <pre>
 * planning [admitting admitted] planned packed submitted … awaiting awaited applied
 * planning [admitting admitted] idle
 * </pre>
 *
 * <p>Where the device takes several steps at a time, a step is planned, packed and submitted before the one ahead of it is awaited. A
 * step that the device has lost is awaited and applied like any other. An engine with a loop of its own encloses all that in turns.
 *
 * <p>A step is told by its {@link StepRecord}, which has the facts that are known by then: times up to and including this event,
 * what is computed from {@link #planned} on. It is reused for a later step once {@link #applied} has returned. An observer runs within
 * the step, so it should be quick, allocate nothing, and throw nothing.
 */
public non-sealed interface StepObserver extends Observer {

    /** A turn of the engine's loop begins. */
    default void turnBegins() {}

    /** A turn is over, perhaps because something in it has failed; whatever it began is over too. */
    default void turnEnds() {}

    /** Rows for a step are being chosen. */
    default void planning(StepRecord step) {}

    /** As part of planning: requests wait, and those that fit are about to be admitted. */
    default void admitting(StepRecord step) {}

    /** Those that fit have been admitted, perhaps none. */
    default void admitted(StepRecord step) {}

    /** There was nothing to plan; no step comes of it. */
    default void idle(StepRecord step) {}

    /** The rows are chosen, at least one; packing begins. */
    default void planned(StepRecord step) {}

    /** The device's arrays are written; handing them over begins. */
    default void packed(StepRecord step) {}

    /** The device has the step. */
    default void submitted(StepRecord step) {}

    /** The host waits for the oldest step in flight. */
    default void awaiting(StepRecord step) {}

    /** The oldest step in flight has come back, or is lost. */
    default void awaited(StepRecord step) {}

    /** Called when the step's samples have been taken in and all its facts are known. */
    default void applied(StepRecord step) {}

    /** Tokens and endings are being handed to their streams. */
    default void delivering() {}

    /** They have been handed over. */
    default void delivered() {}
}
