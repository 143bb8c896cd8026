package io.roseinfer.backend;

import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A device that can run models. */
public interface Backend extends AutoCloseable {

    /** Returns a short name for messages and results, such as {@code cpu}, {@code cuda} or {@code sim}. */
    String name();

    /** Returns a line that describes the device: processor, vector width, threads. */
    String description();

    /** Returns the CPU threads that compute, or 0. */
    default int threads() {
        return 0;
    }

    /** Returns the GPU's name; empty on other devices. */
    default Optional<String> gpu() {
        return Optional.empty();
    }

    /** Returns warnings for the user about reduced speed. */
    default List<String> warnings() {
        return List.of();
    }

    /** Returns how long a loaded model should run synthetic requests to warm up the host's code; or 0. */
    default long warmUpNanos() {
        return 0;
    }

    /**
     * Loads a model: packs the weights for this device and allocates all memory of the runner.
     *
     * @throws io.roseinfer.base.RoseException.BadModel if the device does not support the model
     * @throws io.roseinfer.base.RoseException.InsufficientMemory if it does not fit
     */
    ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits);

    /**
     * Loads a model for several engines, each with its own KV pool; weights may be shared.
     *
     * @throws io.roseinfer.base.RoseException as in {@link #load(ModelSpec, Weights, RunnerLimits)}; none is loaded then
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
