/**
 * A simulated model: deterministic, instant, and sensitive to scheduler bugs. The next token is a hash of all tokens of the row, read back
 * <em>through the block table</em> from a KV array, so a wrong block, a stale slot or an early release changes the output. Tests use it
 * instead of mocks, and the scheduler's cost is measured on it.
 */
@NullMarked
package io.roseinfer.backend.sim;

import org.jspecify.annotations.NullMarked;
