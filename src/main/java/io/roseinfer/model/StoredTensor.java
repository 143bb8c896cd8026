package io.roseinfer.model;

import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;

/** A tensor of a checkpoint, not yet read. */
public record StoredTensor(Checkpoint source, String name) {
    /** Returns the type it is stored in. */
    public DType dtype() {
        return source.info(name).orElseThrow().dtype();
    }

    /** Reads the tensor, which is valid as long as the arena. */
    public Tensor read(Arena arena) {
        return source.read(name, arena);
    }
}
