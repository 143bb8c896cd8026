/**
 * Who holds which KV block: {@link io.roseinfer.kv.KvBlockPool} counts references, {@link io.roseinfer.kv.BlockTable} is one
 * sequence's list, {@link io.roseinfer.kv.PrefixCache} remembers what full blocks contain so that another sequence which begins
 * with the same tokens can share them. Integers only: no tensor, no thread, no clock.
 *
 * <p>Invariant, at every step boundary: free + cached + held = all blocks, where a held block's count is the number of tables
 * that list it, and a cached block is listed by none but known to the prefix cache.
 */
@NullMarked
package io.roseinfer.kv;

import org.jspecify.annotations.NullMarked;
