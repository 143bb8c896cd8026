package io.roseinfer;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.util.List;

/**
 * A model as often as it was loaded.
 *
 * @param backends the devices, at least one; one may hold several copies
 * @param runners the copies, at least one
 */
record Copies(List<Backend> backends, List<ModelRunner> runners, RoutingPolicy routing) implements AutoCloseable {
    Copies {
        backends = List.copyOf(backends);
        runners = List.copyOf(runners);
    }

    /** The first device, which is like the others. */
    Backend backend() {
        return backends.getFirst();
    }

    /** The first copy. */
    ModelRunner runner() {
        return runners.getFirst();
    }

    @Override
    public void close() {
        runners.forEach(ModelRunner::close);
        backends.forEach(Backend::close);
    }
}
