package io.roseinfer.model;

import io.roseinfer.base.Check;
import io.roseinfer.tensor.DType;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A matrix of a checkpoint, y = x·W + bias, and the tensors that hold its values. Nothing is read before {@link #open}.
 * Its outputs belong to one tensor, or to several one after another, such as queries, keys and values stored
 * separately.
 *
 * @param inputs length of x
 * @param outputs length of y
 */
public record Matrix(List<Outputs> parts, int inputs, int outputs, Layout layout, Optional<Vector> bias) {
    /** The order of a stored tensor's axes. */
    public enum Layout {
        /** [inputs, outputs]. */
        IN_OUT,
        /** [outputs, inputs], one row per output. */
        OUT_IN
    }

    public Matrix {
        parts = List.copyOf(parts);
        int together = parts.stream().mapToInt(Outputs::count).sum();
        Check.that(together == outputs, "a matrix of %d outputs has parts with %d", outputs, together);
    }

    /** Returns a matrix that is stored as one tensor. */
    public static Matrix of(StoredTensor tensor, int inputs, int outputs, Layout layout, Optional<Vector> bias) {
        return new Matrix(List.of(Outputs.whole(tensor, outputs)), inputs, outputs, layout, bias);
    }

    /** Returns the first rows of a table stored as one tensor. */
    Matrix firstRows(int count) {
        Check.that(
                layout == Layout.OUT_IN && bias.isEmpty() && count <= outputs,
                "a table of %d rows has no first %d",
                outputs,
                count);
        return of(asStored().orElseThrow(), inputs, count, layout, bias);
    }

    /** Returns the tensor that begins with the elements of this matrix, in the same order, if there is one. */
    public Optional<StoredTensor> asStored() {
        return parts.size() == 1 && parts.getFirst().isOneRun()
                ? Optional.of(parts.getFirst().tensor())
                : Optional.empty();
    }

    /** Opens its tensors, which are valid as long as the arena; tensors of a file are mapped, not copied. */
    public OpenMatrix open(Arena arena) {
        return new OpenMatrix(this, arena);
    }

    Stream<DType> types() {
        return parts.stream().map(part -> part.tensor().dtype());
    }
}
