package io.roseinfer.backend;

import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.List;
import java.util.Optional;

/** A device that can run models. */
public interface Backend extends AutoCloseable {

    /** Short name, as {@code --device} knows it: {@code cpu}, {@code cuda}, {@code sim}. */
    String name();

    /** One line for people: which processor, how wide, how many threads. */
    String description();

    /** Processor threads that compute; 0 where something else does. */
    default int threads() {
        return 0;
    }

    /** The GPU this device is, by its own name; empty if it is none. */
    default Optional<String> gpu() {
        return Optional.empty();
    }

    /** Reasons why runs will be slower than the device can be, for the user to see before anything runs. */
    default List<String> warnings() {
        return List.of();
    }

    /** How long a model that was just loaded should serve requests for their own sake, to get the host's code compiled; or 0. */
    default long warmUpNanos() {
        return 0;
    }

    /**
     * Loads a model: packs the weights the way this device wants them and allocates everything the runner will ever need.
     *
     * @throws io.roseinfer.base.RoseException.BadModel if the model has what this device cannot run
     * @throws io.roseinfer.base.RoseException.InsufficientMemory if it does not fit
     */
    ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits);

    @Override
    void close();
}
