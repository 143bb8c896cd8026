/**
 * KV blocks and their owners: {@link io.roseinfer.kv.KvBlockPool} counts references, {@link io.roseinfer.kv.BlockTable}
 * lists the blocks of one sequence, and {@link io.roseinfer.kv.PrefixCache} finds full blocks that sequences with a
 * common prefix can share. Integers only: no tensors, no threads, no clock.
 *
 * <p>Invariant at every step boundary: free + cached + held = all blocks. The count of a held block is the number of
 * tables that list it; a cached block is in no table, only in the prefix cache.
 */
@NullMarked
package io.roseinfer.kv;

import org.jspecify.annotations.NullMarked;
