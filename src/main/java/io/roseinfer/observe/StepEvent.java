package io.roseinfer.observe;

/**
 * What happens to a step, in this order:
 *
 * <pre>
 * PLANNING [ADMITTING ADMITTED] PLANNED PACKED SUBMITTED … AWAITING AWAITED APPLIED
 * PLANNING [ADMITTING ADMITTED] IDLE
 * </pre>
 *
 * <p>If the device takes several steps at a time, a step is planned, packed and submitted before the one ahead of it is awaited. A step
 * that the device has lost is awaited and applied like any other. An engine with a loop of its own encloses all that in turns.
 */
public enum StepEvent {
    /** A turn of the engine's loop begins. */
    TURN_BEGINS,
    /** Choosing the rows of a step begins. */
    PLANNING,
    /** As part of planning: requests wait, and admitting those that fit begins. */
    ADMITTING,
    /** The requests that fit are admitted, perhaps none. */
    ADMITTED,
    /** There was nothing to plan; no step comes of it. */
    IDLE,
    /** The rows are chosen, at least one; packing begins. */
    PLANNED,
    /** The device's arrays are written; handing them over begins. */
    PACKED,
    /** The device has the step. */
    SUBMITTED,
    /** Waiting for the oldest step in flight begins. */
    AWAITING,
    /** The oldest step in flight has come back, or is lost. */
    AWAITED,
    /** The step's samples are taken in, and all its facts are known. */
    APPLIED,
    /** Handing tokens and endings to their streams begins. */
    DELIVERING,
    /** Tokens and endings are handed over. */
    DELIVERED,
    /** A turn is over, perhaps because something in it has failed; whatever it began is over too. */
    TURN_ENDS
}
