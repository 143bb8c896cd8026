package io.roseinfer.model;

import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;

/**
 * A bias or a norm weight: stored elements one after another, with a number added to each.
 *
 * @param offset added to each stored value, such as 1 if norm weights are stored as the difference from 1; 0 in most
 *     models
 */
public record Vector(List<Outputs> parts, float offset) {
    public Vector {
        parts = List.copyOf(parts);
    }

    /** Returns a vector that is stored as one tensor. */
    public static Vector of(StoredTensor tensor, int count) {
        return new Vector(List.of(Outputs.whole(tensor, count)), 0);
    }

    /** Returns the number of elements. */
    public int count() {
        return parts.stream().mapToInt(Outputs::count).sum();
    }

    /** Returns the tensor with exactly the elements of this vector, if there is one. */
    public Optional<StoredTensor> asStored() {
        return parts.size() == 1 && parts.getFirst().isOneRun() && offset == 0
                ? Optional.of(parts.getFirst().tensor())
                : Optional.empty();
    }

    /** Reads all elements. */
    public float[] read() {
        float[] values = new float[count()];
        int at = 0;
        for (Outputs part : parts) {
            try (Arena reading = Arena.ofConfined()) {
                Tensor tensor = part.tensor().read(reading);
                for (int i = 0; i < part.count(); i += part.together(i)) {
                    tensor.copyTo(part.stored(i), values, at + i, part.together(i));
                }
            }
            at += part.count();
        }
        if (offset != 0) {
            for (int i = 0; i < values.length; i++) {
                values[i] += offset;
            }
        }
        return values;
    }
}
