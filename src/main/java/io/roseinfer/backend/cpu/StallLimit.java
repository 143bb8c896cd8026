package io.roseinfer.backend.cpu;

import io.roseinfer.base.Clock;

/**
 * How long worker 0 waits for the others before it gives them up. A phase of a step takes well under a second however large the step
 * is, so a wait of a minute means that a worker will not come back.
 *
 * @param nanos longest wait, by {@code clock}
 */
record StallLimit(Clock clock, long nanos) {}
