package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The whole command on the simulated device. */
class BenchSchedulerCommandTest {
    private static Outcome bench(String mode) {
        return CliRunner.run(
                "bench",
                "scheduler",
                "--model",
                "random:gpt2",
                "--device",
                "sim",
                "--mode",
                mode,
                "--num-requests",
                "4",
                "--max-new-tokens",
                "3",
                "--no-stop-on-eos",
                "--warmup-runs",
                "1",
                "--repeat-runs",
                "2");
    }

    @Test
    void scheduler_online_tellsLatencies() {
        Outcome outcome = bench("online");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out())
                .startsWith("""
                        === warmup 1/1 ===
                        === online summary ===
                        Warmup runs: 1
                        Measured runs: 2
                        Requests: 4
                        Prompt tokens: 16
                        Completion tokens: 12
                        """)
                .containsPattern("(?m)^TTFT p50/mean: \\d+\\.\\d\\d/\\d+\\.\\d\\d ms$")
                .containsPattern("(?m)^TPOT p50/mean: \\d+\\.\\d\\d/\\d+\\.\\d\\d ms/token$")
                .containsPattern("(?m)^Latency p50/mean: \\d+\\.\\d\\d/\\d+\\.\\d\\d ms$");
    }

    @ParameterizedTest
    @ValueSource(strings = {"offline", "naive"})
    void scheduler_otherModes_tellThroughputAlone(String mode) {
        Outcome outcome = bench(mode);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .contains("=== " + mode + " summary ===")
                .contains("Throughput(completion,total) p50/mean: ")
                .doesNotContain("TTFT", "TPOT", "Latency");
    }

    @Test
    void scheduler_unknownMode_listsTheKnownOnes() {
        Outcome outcome = bench("batch");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("'--mode'")
                .contains("online, offline, naive")
                .hasLineCount(1);
    }
}
