/**
 * A fake model that is a first-class backend: deterministic, instant, and able to notice the scheduler's mistakes. Its next token
 * is a hash of all tokens of the row, read back <em>through the block table</em> from a KV array, so a wrong block, a stale slot
 * or an early release changes what a request yields. Tests use it instead of mocks, and the scheduler's own cost
 * is measured on it.
 */
@NullMarked
package io.roseinfer.backend.sim;

import org.jspecify.annotations.NullMarked;
