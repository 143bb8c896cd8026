package io.roseinfer.engine.routing;

import io.roseinfer.base.RoseException.BadInput;

/**
 * The age of the replica state that a router sees, see {@link AgedView}.
 *
 * @param nanos the age, at least 0; 0 shows the current state
 * @param countsSent whether requests are counted that were routed since then
 */
public record ViewAge(long nanos, boolean countsSent) {
    /** The current state. */
    public static final ViewAge NONE = new ViewAge(0, true);

    public ViewAge {
        BadInput.require(nanos >= 0, "the age of views in nanoseconds", nanos, "0 or more");
    }
}
