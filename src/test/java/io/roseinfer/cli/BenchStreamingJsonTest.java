package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.metrics.Summary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Compares the numbers in the {@code --json} file with each other and with the printed ones. */
@Tag("process")
class BenchStreamingJsonTest {
    @TempDir
    Path folder;

    @Test
    void json_summary_equals_that_of_its_requests() throws IOException {
        JsonNode run = SimBench.results(folder, "run.json", "--num-requests", "9", "--max-new-tokens", "6")
                .at("/runs/0");
        double[] ttftMillis = SimBench.elements(run.at("/requests"))
                .mapToDouble(request -> (request.at("/token_ns/0").longValue()
                                - request.at("/submit_start_ns").longValue())
                        / 1e6)
                .toArray();
        Summary expected = Summary.of(ttftMillis);
        assertThat(run.at("/summary/ttft_ms/p99").doubleValue()).isCloseTo(expected.p99(), within(1e-9));
        assertThat(run.at("/summary/ttft_ms/mean").doubleValue()).isCloseTo(expected.mean(), within(1e-9));
        assertThat(run.at("/requests")).hasSize(9);
    }

    @Test
    void runs_are_summarized_by_median_and_range() throws IOException {
        Path file = folder.resolve("run.json");
        Outcome outcome = SimBench.run("--num-requests=3", "--repeat-runs=3", "--json=" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode document = SimBench.read(file);
        double[] p99 = SimBench.elements(document.at("/runs"))
                .mapToDouble(run -> run.at("/summary/ttft_ms/p99").doubleValue())
                .sorted()
                .toArray();
        JsonNode over = document.at("/over_runs/ttft_ms/p99");
        assertThat(over.at("/min").doubleValue()).isEqualTo(p99[0]);
        assertThat(over.at("/median").doubleValue()).isEqualTo(p99[1]);
        assertThat(over.at("/max").doubleValue()).isEqualTo(p99[2]);
        assertThat(outcome.out().lines())
                .contains(String.format(Locale.ROOT, "TTFT p99: %.2f (%.2f to %.2f) ms", p99[1], p99[0], p99[2]));
        assertThat(outcome.out().lines().dropWhile(line -> !line.startsWith("=== over 3 runs")))
                .hasSize(1 + 4 * 2 + 1);
    }

    @Test
    void metric_without_samples_has_no_summary() throws IOException {
        JsonNode over = SimBench.results(folder, "run.json", "--max-new-tokens=1", "--repeat-runs=2")
                .at("/over_runs");
        assertThat(over.has("ttft_ms")).isTrue();
        assertThat(over.has("tpot_ms")).isFalse();
        assertThat(over.has("itl_ms")).isFalse();
    }

    @Test
    void json_has_the_effective_settings() throws IOException {
        JsonNode settings = SimBench.results(folder, "run.json", "--num-requests", "2", "--prompt-repeats", "1,2")
                .at("/settings");
        assertThat(settings.at("/num_requests").intValue()).isEqualTo(2);
        assertThat(settings.at("/prompt_repeats")).hasToString("[1,2]");
        assertThat(settings.at("/device").stringValue()).isEqualTo("sim");
        assertThat(settings.at("/dtype").isNull()).isTrue();
        assertThat(settings.at("/threads").isNull()).isTrue();
        assertThat(settings.at("/prefill_max_tokens").isNull()).isTrue();
        assertThat(settings.at("/prefill_max_batch_size").intValue()).isEqualTo(8);
        assertThat(settings.at("/kv_blocks").intValue()).isEqualTo(4096);
        assertThat(settings.at("/block_size").intValue()).isEqualTo(16);
    }

    /** Runs in a separate JVM, without the vector kernels, which take longer to compile than to run. */
    @ParameterizedTest
    @CsvSource({"auto, bf16", "fp32, fp32", "int8, int8", "int4, int4"})
    void cpu_settings_are_the_effective_ones(String dtype, String inForce) throws Exception {
        Path file = folder.resolve("run.json");
        Outcome outcome = CommandJvm.run(
                "bench",
                "--device=cpu",
                "--dtype=" + dtype,
                "--warmup-runs=0",
                "--num-requests=1",
                "--max-new-tokens=2",
                "--json=" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode document = SimBench.read(file);
        JsonNode settings = document.at("/settings");
        int cores = Runtime.getRuntime().availableProcessors();
        assertThat(settings.at("/dtype").stringValue()).isEqualTo(inForce);
        assertThat(settings.at("/threads").intValue()).isEqualTo(cores);
        assertThat(settings.at("/kv_blocks").intValue())
                .isEqualTo(document.at("/runs/0/kv/blocks_total").intValue());
        assertThat(document.at("/environment/gpu").isNull())
                .as("it ran on no GPU, whatever there is")
                .isTrue();
        assertThat(outcome.out()).contains("\nSettings: dtype " + inForce + ", threads " + cores + ", batch 8,");
    }

    /** Percentiles by NumPy's definition, independent of the tested code. */
    private static double percentile(double[] sorted, double percent) {
        double place = (sorted.length - 1) * percent / 100;
        int below = (int) place;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
    }

    private static String printed(String format, DoubleStream values, double... percents) {
        double[] sorted = values.sorted().toArray();
        return Arrays.stream(percents)
                .mapToObj(percent ->
                        String.format(Locale.ROOT, format, sorted.length == 0 ? 0 : percentile(sorted, percent)))
                .collect(Collectors.joining("/"));
    }

    private static String millis(JsonNode run, ToLongFunction<JsonNode> nanos) {
        return printed(
                "%.2f",
                SimBench.elements(run.at("/requests")).mapToLong(nanos).mapToDouble(value -> value / 1e6), 50, 95, 99);
    }

    private static long nanos(JsonNode request, String name) {
        return request.at("/" + name).longValue();
    }

    private static long[] tokens(JsonNode request) {
        return SimBench.elements(request.at("/token_ns"))
                .mapToLong(JsonNode::longValue)
                .toArray();
    }

    private static String hostMicros(JsonNode run, int part) {
        return printed(
                "%.1f",
                SimBench.elements(run.at("/host_steps"))
                        .mapToDouble(step -> step.get(part).longValue() / 1e3),
                50,
                95);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--num-requests=9 --max-new-tokens=6",
                "--num-requests=5 --max-new-tokens=1 --tokenize-workers=2",
                "--num-requests=7 --submit-interval-ms=1 --submit-schedule=absolute --no-stop-on-eos",
                "--num-requests=40 --max-inflight-requests=3 --submit-interval-ms=0.1 --submit-schedule=absolute"
            })
    void printed_numbers_equal_those_of_the_json_timestamps(String flags) throws IOException {
        Path file = folder.resolve("run.json");
        Outcome outcome = SimBench.run((flags + " --json=" + file).split(" "));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode run = SimBench.read(file).at("/runs/0");
        List<JsonNode> requests = SimBench.elements(run.at("/requests")).toList();
        List<String> lines = new ArrayList<>();
        lines.add("Requests: " + requests.size());
        if (run.at("/rejected").intValue() > 0) {
            lines.add("Rejected: " + run.at("/rejected").intValue());
        }
        lines.add("Prompt tokens (total): "
                + requests.stream()
                        .mapToLong(request -> nanos(request, "prompt_tokens"))
                        .sum());
        long completion =
                requests.stream().mapToLong(request -> tokens(request).length).sum();
        lines.add("Completion tokens (total): " + completion);
        if (flags.contains("absolute")) {
            lines.add("Submit lag p50/p95/p99: "
                    + printed(
                            "%.2f",
                            SimBench.elements(run.at("/submit_lag_ns")).mapToDouble(lag -> lag.longValue() / 1e6),
                            50,
                            95,
                            99)
                    + " ms");
        }
        lines.add("add_request latency p50/p95/p99: "
                + millis(run, request -> nanos(request, "submit_end_ns") - nanos(request, "submit_start_ns")) + " ms");
        lines.add("Tokenize p50/p95/p99: "
                + millis(run, request -> Math.max(0, nanos(request, "tokenize_ns") - nanos(request, "submit_end_ns")))
                + " ms");
        lines.add("Queue wait (post-tok) p50/p95/p99: "
                + millis(run, request -> Math.max(0, nanos(request, "admit_ns") - nanos(request, "tokenize_ns")))
                + " ms");
        lines.add("Prefill->first token p50/p95/p99: "
                + millis(run, request -> tokens(request)[0] - nanos(request, "admit_ns")) + " ms");
        lines.add("TTFT p50/p95/p99: " + millis(run, request -> tokens(request)[0] - nanos(request, "submit_start_ns"))
                + " ms");
        lines.add("TPOT p50/p95/p99: "
                + printed(
                        "%.2f",
                        requests.stream()
                                .map(BenchStreamingJsonTest::tokens)
                                .filter(stamps -> stamps.length > 1)
                                .mapToDouble(
                                        stamps -> (stamps[stamps.length - 1] - stamps[0]) / 1e6 / (stamps.length - 1)),
                        50,
                        95,
                        99)
                + " ms/token");
        lines.add("ITL p50/p95/p99: "
                + printed(
                        "%.2f",
                        requests.stream()
                                .map(BenchStreamingJsonTest::tokens)
                                .flatMapToDouble(stamps -> IntStream.range(1, stamps.length)
                                        .mapToDouble(i -> (stamps[i] - stamps[i - 1]) / 1e6)),
                        50,
                        95,
                        99)
                + " ms");
        lines.add("Latency p50/p95/p99: "
                + millis(run, request -> nanos(request, "finish_ns") - nanos(request, "submit_start_ns")) + " ms");
        double seconds = (requests.stream()
                                .mapToLong(request -> nanos(request, "finish_ns"))
                                .max()
                                .orElseThrow()
                        - requests.stream()
                                .mapToLong(request -> nanos(request, "submit_start_ns"))
                                .min()
                                .orElseThrow())
                / 1e9;
        lines.add(String.format(Locale.ROOT, "Throughput (completion,total): %.2f tokens/s", completion / seconds));
        if (!run.at("/host_steps").isEmpty()) {
            lines.add("Host per decode step p50/p95: " + hostMicros(run, 0) + " us, not overlapped "
                    + hostMicros(run, 1) + " us, waiting for the device " + hostMicros(run, 2) + " us");
        }
        assertThat(outcome.out())
                .contains(String.format(
                        Locale.ROOT,
                        "Submit wall: %.6f s\n",
                        run.at("/summary/submit_wall_s").doubleValue()));
        assertThat(outcome.out()
                        .lines()
                        .dropWhile(line -> !line.startsWith("Requests:"))
                        .filter(line -> !line.startsWith("Submit wall")
                                && !line.startsWith("Submit interval")
                                && !line.startsWith("Settings")))
                .containsExactlyElementsOf(lines);
    }
}
