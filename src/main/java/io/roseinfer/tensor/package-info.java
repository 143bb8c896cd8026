/**
 * Numbers in memory: element types, and tensors as typed, shaped views of a {@link java.lang.foreign.MemorySegment}. Nothing
 * here owns memory; whoever owns the arena does.
 */
@NullMarked
package io.roseinfer.tensor;

import org.jspecify.annotations.NullMarked;
