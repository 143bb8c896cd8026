/**
 * The client's stamps of a request and the server's in one table: {@link io.roseinfer.bench.join.FirstToken} says where the time to the
 * first token went, {@link io.roseinfer.bench.join.Gap} which step the time between two tokens waited for, and
 * {@link io.roseinfer.bench.join.PartTable} sums both up over requests.
 *
 * <p>Invariant: the parts of a request, with its residual, add up to what its client saw, to the nanosecond.
 */
@NullMarked
package io.roseinfer.bench.join;

import org.jspecify.annotations.NullMarked;
