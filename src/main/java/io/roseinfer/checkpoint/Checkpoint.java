package io.roseinfer.checkpoint;

import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Named tensors that have been checked but not yet read: a checkpoint on disk, or weights made from a seed. Reading is one
 * tensor at a time into an arena of the caller's, so a loader that repacks weights never holds the checkpoint twice.
 */
public interface Checkpoint extends AutoCloseable {

    /** Type and shape of a tensor, known before a byte of it is read. */
    @SuppressWarnings({"ArrayRecordComponent", "AvoidCommonTypeNames"}) // copied in and out; nested, so never ambiguous
    record Info(DType dtype, long[] shape) {
        public Info {
            shape = shape.clone();
        }

        /** The dimensions, outermost first, as a copy; empty for a scalar. */
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

        /** As {@link Tensor} prints itself: {@code F32[50257, 768]}. */
        @Override
        public String toString() {
            return dtype + Arrays.toString(shape);
        }
    }

    /** Name of this source in messages: a path, or {@code random:NAME (seed 0)}. */
    String description();

    /** All tensor names, in file order; unmodifiable. */
    Set<String> names();

    /** Type and shape of the named tensor, if the source has it. */
    Optional<Info> info(String name);

    /**
     * Reads one tensor. Its memory lives exactly as long as {@code arena}, whether this source is closed before or after, and
     * may begin at any byte address. For a plain file it is a mapping of that tensor alone, not a copy: closing the arena
     * unmaps it. May be called again for the same name, and from several threads.
     *
     * <p>A file that is cut short or replaced <em>after</em> a tensor was mapped cannot be guarded against here: the reading
     * thread gets an {@link InternalError}.
     *
     * @throws io.roseinfer.base.RoseException.BadModel if its file cannot be read
     * @throws java.util.NoSuchElementException if there is no such tensor
     */
    Tensor read(String name, Arena arena);

    /** Lets go of files and memory; tensors already read stay valid. Closing again does nothing. */
    @Override
    void close();
}
