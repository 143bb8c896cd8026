package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.sim.SimBackend;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Loading on a custom device. */
class CustomBackendTest {
    private record Accelerator(SimBackend device) implements Backend {
        @Override
        public Kind kind() {
            return device.kind();
        }

        @Override
        public String name() {
            return "accelerator-7";
        }

        @Override
        public String description() {
            return "a device with a custom name";
        }

        @Override
        public ModelRunner load(ModelSpec spec, Weights weights, RunnerLimits limits) {
            return device.load(spec, weights, limits);
        }

        @Override
        public void close() {
            device.close();
        }
    }

    @Test
    void options_in_force_depend_on_the_kind_of_device_not_its_name() {
        Settings settings = Settings.of("random:gpt2").withThreads(3);
        Backend device = new Accelerator(new SimBackend(SimOptions.defaults()));
        try (LoadedModel model = Roseinfer.load(
                settings, List.of(device), new ArrayList<>(), spec -> settings.engine(), DownloadListener.SILENT)) {
            assertThat(model.device()).isEqualTo("accelerator-7");
            assertThat(model.deviceOptions()).isEqualTo(settings.deviceOptions().inForce(Settings.Device.SIM));
        }
    }
}
