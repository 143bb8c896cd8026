package io.roseinfer.checkpoint;

import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Named tensors that have been checked but not yet read: a checkpoint on disk, or weights made from a seed. A tensor is
 * read at a time, into the caller's arena, so a loader that repacks weights never holds the checkpoint twice.
 */
public interface Checkpoint extends AutoCloseable {

    /** Type and shape of a tensor, known before it is read. */
    @SuppressWarnings({"ArrayRecordComponent", "AvoidCommonTypeNames"}) // copied in and out; nested, so never ambiguous
    record Info(DType dtype, long[] shape) {
        public Info {
            shape = shape.clone();
        }

        /** Returns a copy of the dimensions, outermost first; empty for a scalar. */
        @Override
        public long[] shape() {
            return shape.clone();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Info that && dtype == that.dtype && Arrays.equals(shape, that.shape);
        }

        @Override
        public int hashCode() {
            return 31 * dtype.hashCode() + Arrays.hashCode(shape);
        }

        /** Returns the same format as {@link Tensor}: {@code F32[50257, 768]}. */
        @Override
        public String toString() {
            return dtype + Arrays.toString(shape);
        }
    }

    /** Returns the name of this source for messages: a path, or {@code random:NAME (seed 0)}. */
    String description();

    /** Returns all tensor names, in file order; unmodifiable. */
    Set<String> names();

    /** Returns type and shape of the named tensor, if the source has it. */
    Optional<Info> info(String name);

    /**
     * Reads one tensor. Its memory is valid exactly as long as {@code arena}, regardless of when this source is closed,
     * and may begin at any byte address. For an uncompressed file it is a mapping of that tensor alone, not a copy:
     * closing the arena unmaps it. May be called again for the same name, and by several threads.
     *
     * <p>A file that is truncated or replaced <em>after</em> a tensor was mapped cannot be guarded against: the reading
     * thread gets an {@link InternalError}.
     *
     * @throws io.roseinfer.base.RoseException.BadModel if its file cannot be read
     * @throws java.util.NoSuchElementException if there is no such tensor
     */
    Tensor read(String name, Arena arena);

    /** Releases files and memory; tensors already read stay valid. Closing again has no effect. */
    @Override
    void close();
}
