package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

    @ParameterizedTest
    @ValueSource(strings = {"--backend", "--device"})
    void scheduler_onSimWithoutMode_tellsWhatAStepCosts(String flag) {
        Outcome outcome = CliRunner.run(
                "bench", "scheduler", flag, "sim", "--running", "1,9", "--waiting", "0,20", "--steps", "5");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out()).startsWith("=== scheduler cost per decode step ===\nSteps per point: 5,");
        assertThat(outcome.out().lines().filter(line -> line.matches("( +[0-9.]+){8} +[0-9.-]+")))
                .extracting(line -> line.substring(0, 17).strip().replaceAll(" +", "/"))
                .containsExactly("1/0", "1/20", "9/0", "9/20");
    }

    @Test
    void scheduler_backendWithMode_drivesTheModelAsDeviceDoes() {
        Outcome outcome = CliRunner.run(
                "bench",
                "scheduler",
                "--backend",
                "sim",
                "--model",
                "random:gpt2",
                "--mode",
                "naive",
                "--num-requests",
                "1",
                "--max-new-tokens",
                "1",
                "--warmup-runs",
                "0");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).startsWith("=== naive summary ===");
    }

    @ParameterizedTest
    @CsvSource({
        "--num-requests=3, 1",
        "--kv-blocks=3, 1",
        "'--chunked-prefill,--prefill-max-tokens=1', 1",
        "--seed=1, 1",
        "'--dtype=fp32,--threads=1,--temperature=2', 3",
        "--decode-first, 0"
    })
    void scheduler_flagWithoutEffectOnACost_isSaidOnce(String flags, int notes) {
        List<String> args = new ArrayList<>(
                List.of("bench", "scheduler", "--backend", "sim", "--running", "40", "--waiting", "0", "--steps", "2"));
        args.addAll(List.of(flags.split(",")));
        Outcome outcome = CliRunner.run(args.toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err().lines()).hasSize(notes).allMatch(line -> line.contains("has no effect"));
    }

    @Test
    void scheduler_backendAgainstDevice_isRefused() {
        Outcome outcome = CliRunner.run("bench", "scheduler", "--backend", "sim", "--device", "cpu");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--backend sim and --device cpu").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--running=0", "--running=1,x", "--waiting=-1", "--steps=0", "--running=16385"})
    void scheduler_valueOutOfRange_isRefused(String flag) {
        Outcome outcome = CliRunner.run("bench", "scheduler", "--backend", "sim", flag);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(flag.substring(0, flag.indexOf('='))).hasLineCount(1);
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
