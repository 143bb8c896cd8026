package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Tests of the flags and output of {@code bench streaming}. */
@Tag("process")
class BenchStreamingCommandTest {
    private static final String MS = "\\d+\\.\\d\\d/\\d+\\.\\d\\d/\\d+\\.\\d\\d ms";
    private static final String US = "\\d+\\.\\d/\\d+\\.\\d us";

    @TempDir
    Path folder;

    @Test
    void default_output_is_only_the_result_block() {
        Outcome outcome =
                SimBench.run("--prompt", "Hello", "--unique-prompts", "--num-requests", "3", "--max-new-tokens", "5");
        assertThat(outcome.code()).isZero();
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out())
                .matches(String.join(
                                "\n",
                                "=== streaming benchmark ===",
                                "Model: random:gpt2",
                                "Device: sim",
                                "Pretok: False",
                                "Tokenize workers: 0",
                                "Stream interval: 1",
                                "Paged attention: True",
                                "CUDA Graph: False",
                                "NVTX: False",
                                "Requests: 3",
                                "Prompt tokens \\(total\\): 12",
                                "Completion tokens \\(total\\): 15",
                                "Submit wall: \\d+\\.\\d{6} s",
                                "add_request latency p50/p95/p99: " + MS,
                                "Tokenize p50/p95/p99: 0.00/0.00/0.00 ms",
                                "Queue wait \\(post-tok\\) p50/p95/p99: " + MS,
                                "Prefill->first token p50/p95/p99: " + MS,
                                "TTFT p50/p95/p99: " + MS,
                                "TPOT p50/p95/p99: " + MS + "/token",
                                "ITL p50/p95/p99: " + MS,
                                "Latency p50/p95/p99: " + MS,
                                "Throughput \\(completion,total\\): \\d+\\.\\d\\d tokens/s",
                                "Host per decode step p50/p95: " + US + ", not overlapped " + US
                                        + ", waiting for the device " + US,
                                "Settings: dtype none, batch 8, prefill batch 8, admission fifo, KV blocks 4096 of 16"
                                        + " tokens, submitted in a burst, seed 0")
                        + "\n");
    }

    @Test
    void warm_up_and_repeat_runs_print_banners_in_order() {
        Outcome outcome = SimBench.run("--num-requests", "1", "--warmup-runs", "2", "--repeat-runs", "2");
        assertThat(outcome.out().lines().filter(line -> line.startsWith("===")))
                .containsExactly(
                        "=== warmup 1/2 ===",
                        "=== warmup 2/2 ===",
                        "=== run 1/2 ===",
                        "=== streaming benchmark ===",
                        "=== run 2/2 ===",
                        "=== streaming benchmark ===",
                        "=== over 2 runs: median (least to most) ===");
    }

    @ParameterizedTest
    @CsvSource({
        "--pretok, Pretok: True",
        "--tokenize-workers=2, Tokenize workers: 2",
        "--stream-interval=4, Stream interval: 4",
        "--prompt-repeats=3, Prompt tokens (total): 192",
        "'--prompt-repeats=1,2', Prompt tokens (total): 96",
        "--num-requests=5, Requests: 5",
        "--max-new-tokens=3, Completion tokens (total): 48",
        "--submit-interval-ms=0.5, Submit interval/schedule: 0.500 ms / relative"
    })
    void flag_changes_its_printed_line(String flag, String line) {
        assertThat(SimBench.run(flag, "--no-stop-on-eos").out().lines()).contains(line);
    }

    @ParameterizedTest
    @CsvSource({
        "--cuda-graph, --cuda-graph has no effect on sim",
        "--no-paged-attn, --no-paged-attn has no effect on sim",
        "--nvtx, --nvtx has no effect on sim",
        "--no-batch-invariant, --no-batch-invariant has no effect on sim",
        "--kv-cache-dtype=fp8, --kv-cache-dtype fp8 has no effect on sim: it has no KV cache",
        "--temperature=0.5, have no effect without --do-sample",
        "--prefill-force-fifo-every=2, have no effect without --prefill-admission-policy pack",
        "--threads=1024, --threads 1024 has no effect on sim",
        "--dtype=fp32, --dtype fp32 has no effect on sim",
        "--seed=3, --seed has no effect without --do-sample",
        "'--pretok,--tokenize-workers=2', --tokenize-workers has no effect",
        "'--prompt-ids=1,--tokenize-workers=2', --tokenize-workers has no effect",
        "'--prompt-ids=1,--pretok', --pretok has no effect",
        "'--chunked-prefill,--decode-first', --decode-first has no effect with --chunked-prefill",
        "--submit-schedule=absolute, --submit-schedule has no effect: without --submit-interval-ms"
    })
    void flag_without_effect_prints_one_note(String flags, String note) {
        List<String> args = new ArrayList<>(List.of("--num-requests=1", "--repeat-runs=2"));
        args.addAll(List.of(flags.split(",")));
        Outcome outcome = SimBench.run(args.toArray(String[]::new));
        assertThat(outcome.code()).isZero();
        assertThat(outcome.err()).contains(note).hasLineCount(1);
    }

    @Test
    void absolute_schedule_is_met_and_prints_the_lag() throws IOException {
        JsonNode run = SimBench.results(
                        folder,
                        "run.json",
                        "--num-requests",
                        "20",
                        "--submit-interval-ms",
                        "2",
                        "--submit-schedule",
                        "absolute")
                .at("/runs/0");
        for (JsonNode request : run.at("/requests")) {
            assertThat(request.at("/submit_start_ns").longValue())
                    .isGreaterThanOrEqualTo(request.at("/id").intValue() * 2_000_000L);
        }
        assertThat(run.at("/summary/submit_lag_ms/count").intValue()).isEqualTo(20);
    }

    @Test
    void threads_beyond_the_cores_are_noted() throws IOException {
        Path config = Files.writeString(folder.resolve("config.json"), """
                {"model_type":"gpt2","n_embd":2,"n_head":1,"n_layer":1,"vocab_size":300,"n_positions":64}""");
        int cores = Runtime.getRuntime().availableProcessors();
        Outcome outcome = CliRunner.run(
                "generate",
                "--device=cpu",
                "--threads=" + (cores + 1),
                "--model=random:" + config,
                "--prompt-ids=1",
                "--max-new-tokens=1");
        assertThat(outcome.err())
                .contains(
                        "roseinfer: threads is " + (cores + 1) + ", more than the " + cores + " cores of this machine");
    }

    @Test
    void repeated_prompt_ids_need_no_tokenizer() throws IOException {
        Path config = Files.writeString(folder.resolve("config.json"), """
                {"model_type":"gpt2","n_embd":2,"n_head":1,"n_layer":1,"vocab_size":300,"n_positions":64}""");
        Outcome outcome = CliRunner.run(
                "bench",
                "--device=sim",
                "--model=random:" + config,
                "--prompt-ids=7,8,9",
                "--prompt-repeats=1,3",
                "--num-requests=4");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("\nPrompt tokens (total): 24\n");
        Outcome text = CliRunner.run("bench", "--device=sim", "--model=random:" + config);
        assertThat(text.code()).isEqualTo(2);
        assertThat(text.err()).contains("has no tokenizer", "--prompt-ids").hasLineCount(1);
    }

    @Test
    void prompts_of_n_tokens_need_no_tokenizer_and_share_no_prefix() throws IOException {
        Path config = Files.writeString(folder.resolve("config.json"), """
                {"model_type":"gpt2","n_embd":2,"n_head":1,"n_layer":1,"vocab_size":300,"n_positions":64}""");
        Path file = folder.resolve("run.json");
        Outcome outcome = CliRunner.run(
                "bench",
                "--device=sim",
                "--model=random:" + config,
                "--prompt-tokens=40,17",
                "--num-requests=4",
                "--json=" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode run = SimBench.read(file).at("/runs/0");
        assertThat(SimBench.elements(run.at("/requests"))
                        .map(request -> request.at("/prompt_tokens").intValue()))
                .containsExactly(40, 17, 40, 17);
        assertThat(run.at("/cached_tokens").intValue()).isZero();
    }

    @Test
    void memory_plan_is_printed_on_request() {
        Outcome outcome = SimBench.run("--memory-plan", "--num-requests=1");
        assertThat(outcome.err()).isEqualTo("""
                roseinfer:       0.3 MiB KV pool
                roseinfer:       0.3 MiB in all
                """);
    }

    @Test
    void shared_prompt_counts_cached_tokens() throws IOException {
        JsonNode run = SimBench.results(folder, "run.json", "--prompt-repeats", "20", "--num-requests", "4")
                .at("/runs/0");
        // A prompt of 80 tokens: four of its five blocks can be shared, the last token is always computed.
        assertThat(run.at("/requests/0/cached_tokens").intValue()).isZero();
        assertThat(run.at("/requests/3/cached_tokens").intValue()).isEqualTo(64);
        assertThat(run.at("/cached_tokens").intValue()).isEqualTo(3 * 64);
    }

    @Test
    void equal_seeds_sample_equal_tokens_in_every_run() throws IOException {
        JsonNode runs = SimBench.results(
                        folder,
                        "run.json",
                        "--print-ids",
                        "--do-sample",
                        "--seed",
                        "7",
                        "--num-requests",
                        "4",
                        "--repeat-runs",
                        "2")
                .at("/runs");
        List<String> first = ids(runs.get(0));
        assertThat(ids(runs.get(1))).isEqualTo(first);
        assertThat(first).hasSize(4);
    }

    private static List<String> ids(JsonNode run) {
        return SimBench.elements(run.at("/requests"))
                .map(request -> request.at("/ids").toString())
                .toList();
    }

    @Test
    void profile_ops_on_cpu_adds_a_table_per_kind_of_step() throws IOException {
        Path file = folder.resolve("profile.json");
        Outcome outcome = CliRunner.run(
                "bench",
                "--device",
                "cpu",
                "--num-requests",
                "2",
                "--warmup-runs",
                "1",
                "--profile-ops",
                "--json",
                file.toString());
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out().lines().filter(line -> line.startsWith("=== operators:")))
                .hasSize(2)
                .satisfiesExactly(
                        prefill -> assertThat(prefill).contains(" prefill steps, "),
                        decode -> assertThat(decode).contains(" decode steps, "));
        assertThat(SimBench.read(file).at("/runs/0/profile/1/step_us/count").asInt())
                .isGreaterThanOrEqualTo(15);
    }

    @Test
    void profile_ops_notes_that_it_covers_only_the_first_engine() {
        Outcome outcome = CliRunner.run(
                "bench",
                "--device",
                "cpu",
                "--threads",
                "2",
                "--replicas",
                "2",
                "--warmup-runs",
                "0",
                "--num-requests",
                "4",
                "--max-new-tokens",
                "4",
                "--profile-ops");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).contains("--profile-ops covers only engine 0 of 2");
        assertThat(outcome.out()).contains("=== operators:");
    }
}
