package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Tests of {@code bench scheduler} on the simulated device. */
class BenchSchedulerCommandTest {
    @TempDir
    Path folder;

    private static Outcome bench(String mode, String... more) {
        List<String> args = new ArrayList<>(List.of(
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
                "2"));
        args.addAll(List.of(more));
        return CliRunner.run(args.toArray(String[]::new));
    }

    @Test
    void online_mode_prints_latencies() {
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
    void offline_and_naive_modes_print_only_throughput(String mode) {
        Outcome outcome = bench(mode);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .contains("=== " + mode + " summary ===")
                .contains("Throughput(completion,total) p50/mean: ")
                .doesNotContain("TTFT", "TPOT", "Latency");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--backend", "--device"})
    void sim_without_a_mode_prints_times_per_step(String flag) {
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
    void json_file_has_requests_and_a_summary_per_run() throws IOException {
        Path file = folder.resolve("run.json");
        Outcome outcome = bench("offline", "--json=" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode document = SimBench.read(file);
        assertThat(document.at("/mode").stringValue()).isEqualTo("offline");
        assertThat(document.at("/settings/device").stringValue()).isEqualTo("sim");
        assertThat(document.at("/runs")).hasSize(2);
        double[] rates = SimBench.elements(document.at("/runs"))
                .mapToDouble(run -> 12e9 / (nanos(run, "prefill_ns") + nanos(run, "decode_ns")))
                .sorted()
                .toArray();
        JsonNode over = document.at("/over_runs/completion_tok_s");
        assertThat(over.at("/min").doubleValue()).isCloseTo(rates[0], within(1e-6));
        assertThat(over.at("/max").doubleValue()).isCloseTo(rates[1], within(1e-6));
        double median = (rates[0] + rates[1]) / 2;
        assertThat(outcome.out())
                .contains(String.format(
                        Locale.ROOT, "Throughput(completion,total) p50/mean: %.2f/%.2f tokens/s", median, median));
        assertThat(SimBench.elements(document.at("/runs/0/requests")))
                .hasSize(4)
                .allSatisfy(request -> {
                    assertThat(request.at("/completion_tokens").intValue()).isEqualTo(3);
                    assertThat(nanos(request, "ttft_ns")).isPositive().isLessThan(nanos(request, "latency_ns"));
                });
    }

    private static long nanos(JsonNode node, String name) {
        return node.at("/" + name).longValue();
    }

    @Test
    void step_costs_in_json_omit_model_flags() throws IOException {
        Path file = folder.resolve("cost.json");
        Outcome outcome = CliRunner.run(
                "bench",
                "scheduler",
                "--backend=sim",
                "--running=1,9",
                "--waiting=0,20",
                "--steps=5",
                "--json=" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).isEmpty();
        JsonNode document = SimBench.read(file);
        assertThat(document.at("/settings/device").stringValue()).isEqualTo("sim");
        assertThat(document.at("/settings/steps").intValue()).isEqualTo(5);
        assertThat(document.at("/settings").has("model")).isFalse();
        assertThat(SimBench.elements(document.at("/points"))
                        .map(point -> point.at("/running").intValue() + "/"
                                + point.at("/waiting").intValue()))
                .containsExactly("1/0", "1/20", "9/0", "9/20");
        assertThat(document.at("/points/0/total_us/count").intValue()).isEqualTo(5);
        assertThat(document.at("/points/0/admit_us/p50").isNull()).isTrue();
        assertThat(document.at("/points/1/admit_us/count").intValue()).isEqualTo(5);
    }

    @Test
    void backend_with_a_mode_selects_the_device() {
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
    void flag_without_effect_prints_one_note(String flags, int notes) {
        List<String> args = new ArrayList<>(
                List.of("bench", "scheduler", "--backend", "sim", "--running", "40", "--waiting", "0", "--steps", "2"));
        args.addAll(List.of(flags.split(",")));
        Outcome outcome = CliRunner.run(args.toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err().lines()).hasSize(notes).allMatch(line -> line.contains("has no effect"));
    }

    @Test
    void conflicting_backend_and_device_are_rejected() {
        Outcome outcome = CliRunner.run("bench", "scheduler", "--backend", "sim", "--device", "cpu");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--backend sim and --device cpu").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--running=0", "--running=1,x", "--waiting=-1", "--steps=0", "--running=16385"})
    void value_out_of_range_is_rejected(String flag) {
        Outcome outcome = CliRunner.run("bench", "scheduler", "--backend", "sim", flag);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(flag.substring(0, flag.indexOf('='))).hasLineCount(1);
    }

    @Test
    void unknown_mode_lists_the_known_ones() {
        Outcome outcome = bench("batch");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("'--mode'")
                .contains("online, offline, naive")
                .hasLineCount(1);
    }
}
