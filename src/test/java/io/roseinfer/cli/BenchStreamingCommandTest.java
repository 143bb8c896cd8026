package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.github.luben.zstd.ZstdInputStream;
import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.metrics.Summary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The whole command on the simulated device. */
class BenchStreamingCommandTest {
    private static final String MS = "\\d+\\.\\d\\d/\\d+\\.\\d\\d/\\d+\\.\\d\\d ms";
    private static final String US = "\\d+\\.\\d/\\d+\\.\\d us";

    @TempDir
    Path folder;

    private static Outcome bench(String... flags) {
        List<String> args = new ArrayList<>(List.of("bench", "--model", "random:gpt2", "--device", "sim"));
        args.addAll(List.of(flags));
        return CliRunner.run(args.toArray(String[]::new));
    }

    private JsonNode results(String name, String... flags) throws IOException {
        Path file = folder.resolve(name);
        Outcome outcome = bench(Stream.concat(Stream.of("--json", file.toString()), Stream.of(flags))
                .toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        return read(file);
    }

    private static JsonNode read(Path file) throws IOException {
        InputStream stored = Files.newInputStream(file);
        try (InputStream in = file.toString().endsWith(".zst") ? new ZstdInputStream(stored) : stored) {
            return StrictJson.parse(in.readAllBytes());
        }
    }

    @Test
    void bench_plain_printsTheBlockAndNothingElse() {
        Outcome outcome =
                bench("--prompt", "Hello", "--unique-prompts", "--num-requests", "3", "--max-new-tokens", "5");
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
                                        + ", waiting for the device " + US)
                        + "\n");
    }

    @Test
    void bench_warmupsAndRepeats_hasBannersInOrder() {
        Outcome outcome = bench("--num-requests", "1", "--warmup-runs", "2", "--repeat-runs", "2");
        assertThat(outcome.out().lines().filter(line -> line.startsWith("===")))
                .containsExactly(
                        "=== warmup 1/2 ===",
                        "=== warmup 2/2 ===",
                        "=== run 1/2 ===",
                        "=== streaming benchmark ===",
                        "=== run 2/2 ===",
                        "=== streaming benchmark ===");
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
    void bench_flag_hasItsEffect(String flag, String line) {
        assertThat(bench(flag, "--no-stop-on-eos").out().lines()).contains(line);
    }

    @ParameterizedTest
    @CsvSource({
        "--cuda-graph, --cuda-graph has no effect on sim",
        "--no-paged-attn, --no-paged-attn has no effect on sim",
        "--nvtx, --nvtx has no effect on sim",
        "--no-batch-invariant, --no-batch-invariant has no effect on sim",
        "--temperature=0.5, have no effect without --do-sample",
        "--prefill-force-fifo-every=2, have no effect without --prefill-admission-policy pack",
        "--threads=1024, --threads 1024 is more than the"
    })
    void bench_flagWithoutEffect_isSaidOnStandardErrorOnce(String flag, String note) {
        Outcome outcome = bench("--num-requests=1", "--repeat-runs=2", flag);
        assertThat(outcome.code()).isZero();
        assertThat(outcome.err()).contains(note).hasLineCount(1);
    }

    @Test
    void bench_absoluteSchedule_staysOnItAndTellsTheLag() throws IOException {
        JsonNode run = results(
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
    void bench_json_summarizesItsOwnRequests() throws IOException {
        JsonNode run = results("run.json", "--num-requests", "9", "--max-new-tokens", "6")
                .at("/runs/0");
        double[] ttftMillis = StreamSupport.stream(run.at("/requests").spliterator(), false)
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
    void bench_jsonZst_isTheSameDocumentCompressed() throws IOException {
        JsonNode document = results("run.json.zst", "--num-requests", "2", "--repeat-runs", "3");
        assertThat(document.at("/schema").intValue()).isEqualTo(1);
        assertThat(document.at("/runs")).hasSize(3);
    }

    @Test
    void bench_json_hasTheSettingsInForce() throws IOException {
        JsonNode settings = results("run.json", "--num-requests", "2", "--prompt-repeats", "1,2")
                .at("/settings");
        assertThat(settings.at("/num_requests").intValue()).isEqualTo(2);
        assertThat(settings.at("/prompt_repeats")).hasToString("[1,2]");
        assertThat(settings.at("/device").stringValue()).isEqualTo("sim");
        assertThat(settings.at("/prefill_max_tokens").isNull()).isTrue();
    }

    @Test
    void bench_sharedPrompt_countsCachedTokens() throws IOException {
        JsonNode run = results("run.json", "--prompt-repeats", "20", "--num-requests", "4")
                .at("/runs/0");
        // A prompt of 80 tokens: four of its five blocks can be shared, the last token is always computed.
        assertThat(run.at("/requests/0/cached_tokens").intValue()).isZero();
        assertThat(run.at("/requests/3/cached_tokens").intValue()).isEqualTo(64);
        assertThat(run.at("/cached_tokens").intValue()).isEqualTo(3 * 64);
    }

    @ParameterizedTest
    @ValueSource(strings = {"trace.json", "trace.json.zst"})
    void bench_timeline_isATraceOfAllRunsAndPrintsNoOtherLine(String name) throws IOException {
        Path file = folder.resolve(name);
        Outcome outcome = bench("--timeline", file.toString(), "--num-requests", "3", "--repeat-runs", "2");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out()).doesNotContainIgnoringCase("timeline", "trace");
        JsonNode trace = read(file);
        assertThat(trace.at("/dropped_steps").intValue()).isZero();
        assertThat(StreamSupport.stream(trace.at("/traceEvents").spliterator(), false)
                        .filter(event -> event.at("/name").stringValue().equals("thread_name"))
                        .map(event -> event.at("/pid").intValue() + " "
                                + event.at("/args/name").stringValue()))
                .containsExactly(
                        "1 engine",
                        "1 request 0",
                        "1 request 1",
                        "1 request 2",
                        "2 engine",
                        "2 request 0",
                        "2 request 1",
                        "2 request 2");
    }

    @Test
    void bench_timelineInNoDirectory_isRefusedBeforeTheRun() {
        Outcome outcome = bench("--timeline", folder.resolve("none/trace.json").toString());
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err())
                .contains("--timeline")
                .contains("create it first")
                .hasLineCount(1);
    }

    @Test
    void bench_oneFileForJsonAndTimeline_isRefused() {
        String file = folder.resolve("run.json").toString();
        Outcome outcome = bench("--json", file, "--timeline", file);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--json and --timeline both name").hasLineCount(1);
    }

    @Test
    void bench_sameSeed_drawsTheSameTokensInEveryRun() throws IOException {
        JsonNode runs = results(
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
        return StreamSupport.stream(run.at("/requests").spliterator(), false)
                .map(request -> request.at("/ids").toString())
                .toList();
    }

    @Test
    void bench_promptLongerThanTheContext_isRefusedInOneLine() {
        Outcome outcome = bench("--prompt-repeats", "2000");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("context").hasLineCount(1);
        assertThat(outcome.out()).isEmpty();
    }

    @Test
    void bench_cudaWithoutCuda_isCodeFour() {
        Outcome outcome = CliRunner.run("bench", "--device", "cuda", "--model", "random:gpt2");
        assertThat(outcome.code()).isEqualTo(4);
        assertThat(outcome.err()).contains("cuda").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"./no-such-folder", "pom.xml"})
    void bench_modelThatIsNotThere_isCodeThree(String model) {
        Outcome outcome = CliRunner.run("bench", "--offline", "--model", model);
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains("model").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"builtin:huge", "random:gpt9", "not an id"})
    void bench_referenceThatIsNone_isCodeTwo(String model) {
        Outcome outcome = CliRunner.run("bench", "--model", model);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("allowed are").hasLineCount(1);
    }

    @Test
    void bench_modelWithoutFiles_isCodeThree() {
        Outcome outcome = CliRunner.run("bench", "--model", folder.toString());
        assertThat(outcome.code()).isEqualTo(3);
        assertThat(outcome.err()).contains(folder.getFileName().toString()).hasLineCount(1);
    }

    @Test
    void bench_profileOpsOnCpu_addsATablePerKindOfStep() throws IOException {
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
        assertThat(read(file).at("/runs/0/profile/1/step_us/count").asInt()).isGreaterThanOrEqualTo(15);
    }

    @Test
    void bench_profileOpsWhereThereAreNone_saysWhereThereAre() {
        Outcome outcome = bench("--profile-ops");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).hasLineCount(1).contains("--profile-ops", "sim", "--device cpu");
        assertThat(outcome.out()).isEmpty();
    }
}
