package io.roseinfer.backend.sim;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;

/** Runs {@link SimRunner}s of a model's shape; the weights are not read. */
public final class SimBackend implements Backend {
    private final SimOptions options;

    public SimBackend(SimOptions options) {
        this.options = options;
    }

    @Override
    public String name() {
        return "sim";
    }

    @Override
    public String description() {
        return "simulated device, tokens are hashes";
    }

    @Override
    public ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits) {
        return new SimRunner(spec, limits, options);
    }

    @Override
    public void close() {}
}
