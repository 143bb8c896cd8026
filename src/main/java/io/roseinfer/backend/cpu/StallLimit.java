package io.roseinfer.backend.cpu;

import io.roseinfer.base.Clock;

/**
 * The time that worker 0 waits for the others before the job fails. A phase takes well under a second even in large steps, so a wait of a
 * minute means that a worker hangs.
 *
 * @param nanos maximum wait by {@code clock}
 */
record StallLimit(Clock clock, long nanos) {}
