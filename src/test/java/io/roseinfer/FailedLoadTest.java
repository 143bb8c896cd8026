package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Loading on a device that has no memory for a model. */
class FailedLoadTest {
    private static final DownloadListener NOTHING = new DownloadListener() {
        @Override
        public void progress(String file, long bytesSoFar, long totalBytes) {}

        @Override
        public void warning(String message) {}
    };

    private static final class FullDevice implements Backend {
        private boolean closed;

        @Override
        public Kind kind() {
            return Kind.CPU;
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
        Settings settings = Settings.of("builtin:tiny");
        FullDevice device = new FullDevice();
        assertThatThrownBy(() -> Roseinfer.load(
                        settings, List.of(device), new ArrayList<>(), spec -> settings.engine(), NOTHING))
                .isInstanceOf(OutOfMemoryError.class);
        assertThat(device.closed).isTrue();
    }
}
