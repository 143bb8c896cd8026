package io.roseinfer.model;

import io.roseinfer.model.Matrix.Layout;
import java.util.Optional;

/** Looks up a model family's tensors by their names in its checkpoints. */
public interface TensorFinder {

    /** Returns whether there is such a tensor. */
    boolean has(String name);

    /** Returns the tensor with this name and shape. Missing or unsuitable tensors are reported after all lookups. */
    StoredTensor find(String name, long... shape);

    /** Returns the name of the tensors' source for messages. */
    String description();

    /** Returns a finder that adds a prefix to a name if only the tensor with the prefix exists. */
    default TensorFinder withOptionalPrefix(String prefix) {
        return new OptionalPrefix(this, prefix);
    }

    /** Returns a vector that is stored as one tensor. */
    default Vector vector(String name, int count) {
        return Vector.of(find(name, count), count);
    }

    /** Returns a matrix without bias that is stored as one tensor, {@code inputs × outputs}. */
    default Matrix matrix(String name, int inputs, int outputs, Layout layout) {
        return matrix(name, inputs, outputs, layout, Optional.empty());
    }

    /** Returns a matrix that is stored as one tensor, {@code inputs × outputs}. */
    default Matrix matrix(String name, int inputs, int outputs, Layout layout, Optional<Vector> bias) {
        StoredTensor tensor = layout == Layout.IN_OUT ? find(name, inputs, outputs) : find(name, outputs, inputs);
        return Matrix.of(tensor, inputs, outputs, layout, bias);
    }

    /** The finder of {@link #withOptionalPrefix}. */
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
