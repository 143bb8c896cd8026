package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.sim.SimBackend;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.engine.EngineWarmUp;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Weights;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests of the budget for warm-up requests. */
class EngineWarmUpTest {
    private static final long LEAST = 500_000_000;

    /** The simulated device, with this much warm-up of the host code. */
    private record Asking(SimBackend device, long warmUpNanos) implements Backend {
        @Override
        public String name() {
            return device.name();
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

    /** Returns the steps of a warm-up on a device that requests this much of it. */
    private static int steps(long warmUpNanos) {
        AtomicInteger steps = new AtomicInteger();
        SimOptions counted = SimOptions.defaults().withOnStep(step -> steps.incrementAndGet());
        Settings settings =
                Settings.of("random:gpt2").withBackend(() -> new Asking(new SimBackend(counted), warmUpNanos));
        try (LoadedModel model = Roseinfer.load(settings)) {
            assertThat(model.isWarm()).isFalse();
            model.warmUp();
            assertThat(model.isWarm()).isTrue();
        }
        return steps.get();
    }

    @Test
    void device_without_warm_up_gets_no_warm_up_requests() {
        assertThat(EngineWarmUp.budgetNanos(0, true, 8 * LEAST)).isZero();
    }

    @Test
    void warm_up_is_skipped_while_kernels_are_compiled() {
        assertThat(EngineWarmUp.budgetNanos(LEAST, false, 8 * LEAST)).isZero();
    }

    @Test
    void quickly_compiled_kernels_leave_the_device_s_budget() {
        assertThat(EngineWarmUp.budgetNanos(LEAST, true, 0)).isEqualTo(LEAST);
        assertThat(EngineWarmUp.budgetNanos(LEAST, true, 8 * LEAST)).isEqualTo(LEAST);
    }

    @Test
    void slow_kernel_compilation_lengthens_the_budget_in_proportion() {
        assertThat(EngineWarmUp.budgetNanos(LEAST, true, 24 * LEAST)).isEqualTo(3 * LEAST);
    }

    @Test
    void model_runs_warm_up_requests_if_the_device_needs_them() {
        assertThat(steps(1)).isPositive();
    }

    @Test
    void model_runs_no_warm_up_requests_if_the_device_does_not_need_them() {
        assertThat(steps(0)).isZero();
    }
}
