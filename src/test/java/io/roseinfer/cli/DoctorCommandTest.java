package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DoctorCommandTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "roseinfer",
                "Java",
                "CPU",
                "Vector API",
                "CPU kernels",
                "Memory",
                "GPU",
                "CUDA driver",
                "CUDA kernels",
                "CUDA backend",
                "Model cache",
                "Model hub",
                "To do"
            })
    void doctor_anyMachine_tellsOfEveryPart(String part) {
        Outcome outcome = CliRunner.run("doctor");
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out().lines().map(line -> line.substring(0, 14).strip()))
                .contains(part);
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void doctor_environment_movesTheModelCacheAndForbidsTheHub() {
        Outcome outcome = CliRunner.run(Map.of("HF_HOME", "/models", "HF_HUB_OFFLINE", "1"), "doctor");
        assertThat(outcome.out())
                .contains("Model cache    /models/hub, which the first download makes\n")
                .contains("Model hub      not used, HF_HUB_OFFLINE is set\n");
    }
}
