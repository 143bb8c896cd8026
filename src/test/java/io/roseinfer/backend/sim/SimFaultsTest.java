package io.roseinfer.backend.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.sim.SimFaults.Fault;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.SpecBuilder;
import java.lang.foreign.Arena;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SimFaultsTest {
    @Test
    void faults_are_read_by_name() {
        assertThat(SimFaults.parse("F", "error=1, nan=2,SLOW=3,death=4").byFirstToken())
                .isEqualTo(Map.of(1, Fault.ERROR, 2, Fault.NAN, 3, Fault.SLOW, 4, Fault.DEATH));
        assertThat(SimFaults.parse("F", " ")).isEqualTo(SimFaults.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"error", "error=", "error=-1", "eror=1", "error=1,", ",", "error=1;nan=2"})
    void invalid_fault_is_rejected_with_an_example(String text) {
        assertThatThrownBy(() -> SimFaults.parse("FAULTS", text))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("FAULTS is ")
                .hasMessageContaining("error=11,nan=12");
    }

    @Test
    void slow_step_takes_a_second_despite_an_unpark_permit() {
        SimOptions slow = SimOptions.defaults().withFaults(new SimFaults(Map.of(3, Fault.SLOW)));
        try (SimRunner runner = new SimRunner(
                SpecBuilder.named("sim").vocabulary(10).context(64).build(), new RunnerLimits(1, 64, 16, 4), slow)) {
            StepInputs inputs = runner.newInputs();
            inputs.beginRow(0, new int[1]);
            inputs.addToken(3);
            inputs.endRow();
            LockSupport.unpark(Thread.currentThread());
            long startNanos = System.nanoTime();
            runner.submit(inputs, runner.newOutputs());
            runner.await();
            assertThat(System.nanoTime() - startNanos).isGreaterThanOrEqualTo(1_000_000_000L);
        }
    }

    /** The first two rows continue prompts of several steps. */
    @Test
    void fault_is_that_of_a_prompts_first_token_only() {
        SimFaults faults = new SimFaults(Map.of(3, Fault.ERROR, 4, Fault.NAN));
        StepInputs inputs = new StepInputs(Arena.ofAuto(), new RunnerLimits(2, 64, 16, 4), 4);
        inputs.clear();
        for (int token = 3; token <= 4; token++) {
            inputs.beginRow(5, new int[1]);
            inputs.addToken(token);
            inputs.endRow();
        }
        faults.strike(inputs);
        assertThat(faults.spoils(inputs, 1)).isFalse();
        inputs.clear();
        inputs.beginRow(0, new int[1]);
        inputs.addToken(4);
        inputs.endRow();
        assertThat(faults.spoils(inputs, 0)).isTrue();
    }
}
