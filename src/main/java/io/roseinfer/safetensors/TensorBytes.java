package io.roseinfer.safetensors;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The data of a checked safetensors file. */
sealed interface TensorBytes extends AutoCloseable permits MappedBytes, SharedBytes {

    /**
     * Returns the bytes of one tensor, read-only, valid exactly as long as {@code arena}.
     *
     * @param begin first byte, counted from the end of the header
     */
    MemorySegment slice(long begin, long bytes, Arena arena);

    @Override
    void close();
}
