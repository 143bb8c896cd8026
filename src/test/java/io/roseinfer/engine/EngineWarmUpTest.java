package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.observe.Observers;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EngineWarmUpTest {
    private static final GenerationRequest REQUEST =
            GenerationRequest.ofTokens(3, 1, 4, 1, 5).withMaxNewTokens(20).withIgnoreEndOfText(true);

    private static int[] generated(SimRunner runner) {
        try (Engine engine = Engine.open(runner, Optional.empty(), Models.options(), Models.ticking())) {
            return engine.generate(REQUEST).ids();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void warm_up_does_not_change_later_results(int maxInFlight) {
        SimOptions options = SimOptions.defaults().withMaxInFlight(maxInFlight);
        int[] cold = generated(Models.runner(Models.options(), options));
        SimRunner runner = Models.runner(Models.options(), options);
        EngineWarmUp.run(runner, Models.options(), Models.ticking(), Long.MAX_VALUE / 2, Observers.NONE);
        assertThat(generated(runner)).isEqualTo(cold);
    }

    @Test
    void warm_up_fits_the_smallest_pool() {
        EngineOptions options = Models.options().withKvBlocks(1);
        SimRunner runner = Models.runner(options, SimOptions.defaults());
        EngineWarmUp.run(runner, options, Models.ticking(), Long.MAX_VALUE / 2, Observers.NONE);
        assertThat(runner.kv().blocks()).isEqualTo(1);
    }

    @Test
    void warm_up_starts_no_wave_after_its_time() {
        AtomicLong steps = new AtomicLong();
        SimOptions options = SimOptions.defaults().withOnStep(step -> steps.incrementAndGet());
        EngineWarmUp.run(
                Models.runner(Models.options(), options), Models.options(), Models.ticking(), 2, Observers.NONE);
        long ofOneWave = steps.getAndSet(0);
        EngineWarmUp.run(
                Models.runner(Models.options(), options),
                Models.options(),
                Models.ticking(),
                Long.MAX_VALUE / 2,
                Observers.NONE);
        assertThat(ofOneWave).isPositive().isLessThan(steps.get());
    }

    @Test
    void warm_up_skips_a_context_without_room_for_a_token() {
        AtomicLong steps = new AtomicLong();
        ModelSpec spec = SpecBuilder.named("one").vocabulary(10).context(1).build();
        SimRunner runner = new SimRunner(
                spec,
                EngineLimits.runnerLimits(Models.options(), spec),
                SimOptions.defaults().withOnStep(step -> steps.incrementAndGet()));
        EngineWarmUp.run(runner, Models.options(), Models.ticking(), Long.MAX_VALUE / 2, Observers.NONE);
        assertThat(steps).hasValue(0);
    }
}
