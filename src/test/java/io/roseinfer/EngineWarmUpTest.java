package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.sim.SimBackend;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.engine.EngineWarmUp;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Whether, and for how long, an engine serves for its own sake before it serves others. */
class EngineWarmUpTest {
    private static final long LEAST = 500_000_000;

    /** The simulated device as one that asks for so much warming of the host's code. */
    private record Asking(SimBackend device, long warmUpNanos) implements Backend {
        @Override
        public Kind kind() {
            return device.kind();
        }

        @Override
        public String description() {
            return device.description();
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

    /** The steps that a warm-up runs on a device that asks for so much of it. */
    private static int steps(long warmUpNanos) {
        AtomicInteger steps = new AtomicInteger();
        SimOptions counted = SimOptions.defaults().withOnStep(step -> steps.incrementAndGet());
        Settings settings = Settings.of("random:gpt2");
        Backend device = new Asking(new SimBackend(counted), warmUpNanos);
        try (LoadedModel model = Roseinfer.load(
                settings, List.of(device), new ArrayList<>(), spec -> settings.engine(), DownloadListener.SILENT)) {
            model.warmUp();
        }
        return steps.get();
    }

    @Test
    void a_device_that_asks_for_no_warm_up_gets_none() {
        assertThat(EngineWarmUp.budgetNanos(0, true, 8 * LEAST)).isZero();
    }

    @Test
    void an_engine_is_not_warmed_up_while_kernels_are_still_being_compiled() {
        assertThat(EngineWarmUp.budgetNanos(LEAST, false, 8 * LEAST)).isZero();
    }

    @Test
    void kernels_that_compile_quickly_leave_what_the_device_asks_for() {
        assertThat(EngineWarmUp.budgetNanos(LEAST, true, 0)).isEqualTo(LEAST);
        assertThat(EngineWarmUp.budgetNanos(LEAST, true, 8 * LEAST)).isEqualTo(LEAST);
    }

    @Test
    void kernels_that_compile_slowly_lengthen_it_in_proportion() {
        assertThat(EngineWarmUp.budgetNanos(LEAST, true, 24 * LEAST)).isEqualTo(3 * LEAST);
    }

    @Test
    void a_model_serves_for_its_own_sake_on_a_device_that_asks_for_it() {
        assertThat(steps(1)).isPositive();
    }

    @Test
    void a_model_serves_nobody_on_a_device_that_does_not() {
        assertThat(steps(0)).isZero();
    }
}
