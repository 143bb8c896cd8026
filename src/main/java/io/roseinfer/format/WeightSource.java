package io.roseinfer.format;

import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.Set;

/**
 * Named tensors that have been checked but not yet read: a checkpoint on disk, or weights made from a seed. Reading is one
 * tensor at a time into an arena of the caller's, so a loader that repacks weights never holds the checkpoint twice.
 */
public interface WeightSource extends AutoCloseable {

    /** Type and shape of a tensor, known before a byte of it is read. */
    record Info(DType dtype, long[] shape) {}

    /** What messages call this source: a path, or {@code random:gpt2 (seed 0)}. */
    String description();

    /** All tensor names, in file order. */
    Set<String> names();

    /** Type and shape of the named tensor, if the source has it. */
    Optional<Info> info(String name);

    /**
     * Reads one tensor. Its memory lives as long as {@code arena}; for a plain file it is a mapping, not a copy.
     *
     * @throws io.roseinfer.base.RoseException.BadModel if the tensor cannot be read
     * @throws java.util.NoSuchElementException if there is no such tensor
     */
    Tensor read(String name, Arena arena);

    @Override
    void close();
}
