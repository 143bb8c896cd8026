package io.roseinfer.backend.sim;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.model.SpecBuilder;
import org.junit.jupiter.api.Test;

class SimRunnerTest {
    @Test
    void pool_larger_than_an_array_is_rejected() {
        RunnerLimits limits = new RunnerLimits(1, 64, 16, 200_000_000);
        assertThatThrownBy(() -> new SimRunner(
                        SpecBuilder.named("sim").vocabulary(10).context(64).build(), limits, SimOptions.defaults()))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("kv_blocks is 200000000")
                .hasMessageContaining("at most 67108864 blocks of 16");
    }
}
