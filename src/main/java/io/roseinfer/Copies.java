package io.roseinfer;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.util.List;

/**
 * The replicas of one loaded model.
 *
 * @param backends the devices, at least one; one device may hold several replicas
 * @param runners the replicas, at least one
 */
record Copies(List<Backend> backends, List<ModelRunner> runners, RoutingPolicy routing) implements AutoCloseable {
    Copies {
        backends = List.copyOf(backends);
        runners = List.copyOf(runners);
    }

    /** Returns the first device; the others are like it. */
    Backend backend() {
        return backends.getFirst();
    }

    /** Returns the first replica. */
    ModelRunner runner() {
        return runners.getFirst();
    }

    @Override
    public void close() {
        runners.forEach(ModelRunner::close);
        backends.forEach(Backend::close);
    }
}
