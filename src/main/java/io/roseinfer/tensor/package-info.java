/**
 * Element types, and tensors as typed, shaped views of a {@link java.lang.foreign.MemorySegment}. The owner of the arena owns the memory.
 */
@NullMarked
package io.roseinfer.tensor;

import org.jspecify.annotations.NullMarked;
