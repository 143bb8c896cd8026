package io.roseinfer.observe;

/**
 * The events of a step, in this order:
 *
 * <pre>
 * PLANNING [ADMITTING ADMITTED] PLANNED PACKED SUBMITTED … AWAITING AWAITED APPLIED
 * PLANNING [ADMITTING ADMITTED] IDLE
 * </pre>
 *
 * <p>If the device accepts several steps at a time, a step is planned, packed and submitted before the previous one is
 * awaited. A step lost by the device is awaited and applied like any other. In the engine's loop, all of this is part
 * of an iteration; simulated time reports none.
 */
public enum StepEvent {
    /** An iteration of the engine's loop starts. */
    ITERATION_STARTED,
    /** Planning of a step starts. */
    PLANNING,
    /** Admission of waiting requests starts, as part of planning. */
    ADMITTING,
    /** Admission is over; perhaps no request was admitted. */
    ADMITTED,
    /** The plan is empty; no step results from it. */
    IDLE,
    /** The plan has at least one row; packing starts. */
    PLANNED,
    /** The device's input arrays are written; submission starts. */
    PACKED,
    /** The step has been submitted to the device. */
    SUBMITTED,
    /** Waiting for the oldest step in flight starts. */
    AWAITING,
    /** The oldest step in flight has completed or is lost. */
    AWAITED,
    /** The step's samples have been applied, and all its facts are known. */
    APPLIED,
    /** Delivery of tokens and outcomes to their streams starts. */
    DELIVERING,
    /** Tokens and outcomes have been delivered. */
    DELIVERED,
    /** An iteration is over, possibly because it failed; everything it started is over too. */
    ITERATION_ENDED
}
