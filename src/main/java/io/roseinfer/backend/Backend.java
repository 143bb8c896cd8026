package io.roseinfer.backend;

import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A device that can run models. */
public interface Backend extends AutoCloseable {

    /** The kinds of devices; the kind decides which options have an effect. */
    enum Kind {
        /** Processor threads. */
        CPU,
        /** A GPU, through CUDA. */
        CUDA,
        /** A device without weights, whose tokens are hashes. */
        SIM
    }

    /** Returns the kind of device. */
    Kind kind();

    /** Short name for messages and results, such as {@code cpu}, {@code cuda} or {@code sim}. */
    default String name() {
        return kind().name().toLowerCase(Locale.ROOT);
    }

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

    /**
     * Loads a model for several engines at a time, each with a KV pool of its own; what they only read may be there once.
     *
     * @throws io.roseinfer.base.RoseException as {@link #load(ModelSpec, Weights, RunnerLimits)} does; none is loaded then
     */
    default List<ModelRunner> load(ModelSpec spec, Weights weights, RunnerLimits limits, int replicas) {
        List<ModelRunner> loaded = new ArrayList<>();
        try {
            while (loaded.size() < replicas) {
                loaded.add(load(spec, weights, limits));
            }
        } catch (RuntimeException | Error e) {
            loaded.forEach(ModelRunner::close);
            throw e;
        }
        return loaded;
    }

    @Override
    void close();
}
