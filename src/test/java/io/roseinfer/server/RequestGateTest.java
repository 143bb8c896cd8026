package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.RoseException.EngineStopped;
import org.junit.jupiter.api.Test;

class RequestGateTest {
    private final RequestGate gate = new RequestGate();

    @Test
    void failed_engine_is_the_reason_also_after_the_server_shuts_down() {
        gate.engineStopped(new EngineStopped("the device is lost"));
        gate.close();
        assertThat(gate.state()).isEqualTo(RequestGate.State.FAILED);
        assertThat(gate.refusal().orElseThrow()).hasMessageContaining("the device is lost");
    }

    @Test
    void engine_that_stops_while_the_server_shuts_down_has_not_failed() {
        gate.close();
        gate.engineStopped(new EngineStopped("closed"));
        assertThat(gate.state()).isEqualTo(RequestGate.State.DRAINING);
        assertThat(gate.failure()).isNotDone();
    }
}
