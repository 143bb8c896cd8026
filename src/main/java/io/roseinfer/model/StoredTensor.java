package io.roseinfer.model;

import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;

/** A tensor of a source, not yet read. */
public record StoredTensor(Checkpoint source, String name) {
    /** The type it is stored in. */
    public DType dtype() {
        return source.info(name).orElseThrow().dtype();
    }

    /** Reads it; the tensor lives as long as the arena. */
    public Tensor read(Arena arena) {
        return source.read(name, arena);
    }
}
