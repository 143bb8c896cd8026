package io.roseinfer.model;

import io.roseinfer.model.Matrix.Layout;
import java.util.Optional;

/** Where a family of models looks its tensors up, by the names that its checkpoints have for them. */
public interface TensorFinder {

    /** Whether there is such a tensor. */
    boolean has(String name);

    /** The tensor of this name, which must have this shape. What is missing or does not fit is reported when all has been looked up. */
    StoredTensor find(String name, long... shape);

    /** Name of the tensors' source in messages. */
    String description();

    /** A finder that takes names with this prefix for those without, where only these are there. */
    default TensorFinder withOptionalPrefix(String prefix) {
        return new OptionalPrefix(this, prefix);
    }

    /** A vector that is a tensor as it stands. */
    default Vector vector(String name, int count) {
        return Vector.of(find(name, count), count);
    }

    /** A matrix that is a tensor as it stands, {@code inputs × outputs}, without a bias. */
    default Matrix matrix(String name, int inputs, int outputs, Layout layout) {
        return matrix(name, inputs, outputs, layout, Optional.empty());
    }

    /** A matrix that is a tensor as it stands, {@code inputs × outputs}. */
    default Matrix matrix(String name, int inputs, int outputs, Layout layout, Optional<Vector> bias) {
        StoredTensor tensor = layout == Layout.IN_OUT ? find(name, inputs, outputs) : find(name, outputs, inputs);
        return Matrix.of(tensor, inputs, outputs, layout, bias);
    }

    /** See {@link #withOptionalPrefix}. */
    record OptionalPrefix(TensorFinder finder, String prefix) implements TensorFinder {
        @Override
        public boolean has(String name) {
            return finder.has(stored(name));
        }

        @Override
        public StoredTensor find(String name, long... shape) {
            return finder.find(stored(name), shape);
        }

        @Override
        public String description() {
            return finder.description();
        }

        private String stored(String name) {
            return !finder.has(name) && finder.has(prefix + name) ? prefix + name : name;
        }
    }
}
