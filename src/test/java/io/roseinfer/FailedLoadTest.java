package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import org.junit.jupiter.api.Test;

/** Loading on a device that has no memory for a model. */
class FailedLoadTest {
    private static final class FullDevice implements Backend {
        private boolean closed;

        @Override
        public String name() {
            return "full";
        }

        @Override
        public String description() {
            return "a device without memory";
        }

        @Override
        public ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits) {
            throw new OutOfMemoryError("nothing left");
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @Test
    void device_is_closed_after_a_failed_load_even_without_memory() {
        FullDevice device = new FullDevice();
        Settings settings = Settings.of("builtin:tiny").withBackend(() -> device);
        assertThatThrownBy(() -> Roseinfer.load(settings)).isInstanceOf(OutOfMemoryError.class);
        assertThat(device.closed).isTrue();
    }
}
