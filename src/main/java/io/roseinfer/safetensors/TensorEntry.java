package io.roseinfer.safetensors;

import io.roseinfer.base.Quoted;
import io.roseinfer.checkpoint.Checkpoint;

/**
 * One tensor as described by a safetensors header.
 *
 * @param begin first byte of its data, counted from the end of the header
 * @param end the byte after its last one
 */
record TensorEntry(String name, Checkpoint.Info info, long begin, long end) {

    long bytes() {
        return end - begin;
    }

    @Override
    public String toString() {
        return "tensor " + Quoted.name(name) + " at [" + begin + ", " + end + ")";
    }
}
