package io.roseinfer.backend.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimFaults.Fault;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Map;
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
    void what_is_no_fault_is_refused_with_an_example(String text) {
        assertThatThrownBy(() -> SimFaults.parse("FAULTS", text))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("FAULTS is ")
                .hasMessageContaining("error=11,nan=12");
    }
}
