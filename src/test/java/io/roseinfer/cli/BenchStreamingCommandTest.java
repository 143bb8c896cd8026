package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.github.luben.zstd.ZstdInputStream;
import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.metrics.Summary;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;
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
        try (InputStream in = decompressed(file.toString(), stored)) {
            return StrictJson.parse(in.readAllBytes());
        }
    }

    private static InputStream decompressed(String name, InputStream stored) throws IOException {
        if (name.endsWith(".gz")) {
            return new GZIPInputStream(stored);
        }
        return name.endsWith(".zst") ? new ZstdInputStream(stored) : stored;
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
                                        + ", waiting for the device " + US,
                                "Settings: dtype none, batch 8, prefill batch 8, admission fifo, KV blocks 4096 of 16"
                                        + " tokens, submitted in a burst, seed 0")
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
        "--threads=1024, --threads has no effect on sim",
        "--dtype=fp32, --dtype has no effect on sim",
        "--seed=3, --seed has no effect without --do-sample",
        "'--pretok,--tokenize-workers=2', --tokenize-workers has no effect",
        "'--prompt-ids=1,--tokenize-workers=2', --tokenize-workers has no effect",
        "'--prompt-ids=1,--pretok', --pretok has no effect",
        "'--chunked-prefill,--decode-first', --decode-first has no effect with --chunked-prefill",
        "--submit-schedule=absolute, --submit-schedule has no effect: without --submit-interval-ms"
    })
    void bench_flagWithoutEffect_isSaidOnStandardErrorOnce(String flags, String note) {
        List<String> args = new ArrayList<>(List.of("--num-requests=1", "--repeat-runs=2"));
        args.addAll(List.of(flags.split(",")));
        Outcome outcome = bench(args.toArray(String[]::new));
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
    void pipe_gets_one_document_of_all_runs() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        // Opened both ways, a pipe waits neither for a reader nor for a writer.
        try (RandomAccessFile reader = new RandomAccessFile(pipe.toFile(), "rw")) {
            Outcome outcome = bench(
                    "--json", pipe.toString(), "--num-requests", "1", "--max-new-tokens", "1", "--repeat-runs", "2");
            assertThat(outcome.code()).as(outcome.err()).isZero();
            byte[] written = new byte[1 << 16];
            JsonNode document = StrictJson.parse(Arrays.copyOf(written, reader.read(written)));
            assertThat(document.get("runs").size()).isEqualTo(2);
        }
    }

    @Test
    void bench_json_hasTheSettingsInForce() throws IOException {
        JsonNode settings = results("run.json", "--num-requests", "2", "--prompt-repeats", "1,2")
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

    @ParameterizedTest
    @CsvSource({"auto, bf16", "fp32, fp32", "int8, int8", "int4, int4"})
    void settings_of_the_cpu_are_what_it_runs_with(String dtype, String inForce) throws IOException {
        Path file = folder.resolve("run.json");
        Outcome outcome = CliRunner.run(
                "bench",
                "--device=cpu",
                "--dtype=" + dtype,
                "--num-requests=1",
                "--max-new-tokens=2",
                "--json=" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode document = read(file);
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

    @Test
    void threads_beyond_the_cores_are_told() {
        Outcome outcome = CliRunner.run("bench", "--device=cpu", "--threads=1024", "--model=./no-such-folder");
        assertThat(outcome.err()).startsWith("roseinfer: --threads 1024 is more than the");
    }

    /** Percentiles as NumPy has them, written down once more. */
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

    private static Stream<JsonNode> elements(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }

    private static String millis(JsonNode run, ToLongFunction<JsonNode> nanos) {
        return printed(
                "%.2f", elements(run.at("/requests")).mapToLong(nanos).mapToDouble(value -> value / 1e6), 50, 95, 99);
    }

    private static long nanos(JsonNode request, String name) {
        return request.at("/" + name).longValue();
    }

    private static long[] tokens(JsonNode request) {
        return elements(request.at("/token_ns")).mapToLong(JsonNode::longValue).toArray();
    }

    private static String hostMicros(JsonNode run, int part) {
        return printed(
                "%.1f",
                elements(run.at("/host_steps"))
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
    void every_printed_number_is_recomputed_from_the_stamps_in_the_json(String flags) throws IOException {
        Path file = folder.resolve("run.json");
        Outcome outcome = bench((flags + " --json=" + file).split(" "));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode run = read(file).at("/runs/0");
        List<JsonNode> requests = elements(run.at("/requests")).toList();
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
                            elements(run.at("/submit_lag_ns")).mapToDouble(lag -> lag.longValue() / 1e6), 50, 95, 99)
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
                                .map(BenchStreamingCommandTest::tokens)
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
                                .map(BenchStreamingCommandTest::tokens)
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

    /** Keeps what is printed, and what is in a file when a certain line is. */
    private static final class Watching extends StringWriter {
        private final Path file;
        private final String line;
        private String seen = "nothing";

        Watching(Path file, String line) {
            this.file = file;
            this.line = line;
        }

        @Override
        public void write(String text, int from, int length) {
            super.write(text, from, length);
            if (text.startsWith(line, from)) {
                try {
                    seen = Files.exists(file) ? Files.readString(file) : "no file";
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"--json, '\"submit_wall_s\"'", "--timeline, '\"process_name\"'"})
    void run_that_is_over_is_in_the_file_while_the_next_one_runs(String flag, String oncePerRun) {
        Path file = folder.resolve("run.json");
        Watching out = new Watching(file, "=== run 3/3");
        Outcome outcome = CliRunner.run(
                out,
                Map.of(),
                "bench",
                "--model=random:gpt2",
                "--device=sim",
                "--num-requests=2",
                "--warmup-runs=1",
                "--repeat-runs=3",
                flag,
                file.toString());
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(out.seen.split(oncePerRun, -1)).hasSize(1 + 2);
    }

    @Test
    void prompt_ids_are_repeated_and_need_no_tokenizer() throws IOException {
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

    @ParameterizedTest
    @CsvSource({
        "--unique-prompts, --unique-prompts",
        "--prompt=a, mutually exclusive",
        "--prompt-repeats=2000000000, 2000000000 tokens"
    })
    void prompt_ids_with_what_is_for_text_are_refused(String flag, String message) {
        Outcome outcome = bench("--prompt-ids=1", flag);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }

    @Test
    void memory_plan_is_listed_where_it_is_asked_for() {
        Outcome outcome = bench("--memory-plan", "--num-requests=1");
        assertThat(outcome.err()).isEqualTo("""
                roseinfer:       0.3 MiB KV pool
                roseinfer:       0.3 MiB in all
                """);
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
    @ValueSource(strings = {"trace.json", "trace.json.zst", "trace.json.gz"})
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

    @ParameterizedTest
    @ValueSource(strings = {"run.json", "./run.json", "link/run.json"})
    void one_file_for_json_and_timeline_is_refused_however_it_is_named(String name) throws IOException {
        Files.createSymbolicLink(folder.resolve("link"), folder);
        Outcome outcome = bench("--json", folder + "/run.json", "--timeline", folder + "/" + name);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--json and --timeline both name").hasLineCount(1);
        assertThat(folder.resolve("run.json")).doesNotExist();
    }

    /** Where Java may unpack no library, as on a system whose temporary files may not be run. */
    @Test
    void zstd_that_cannot_be_loaded_is_told_before_the_run_and_leaves_the_older_result() throws Exception {
        Path file = Files.writeString(folder.resolve("run.json.zst"), "an older result");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + folder.resolve("none"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "bench",
                        "--device=sim",
                        "--model=random:gpt2",
                        "--json=" + file)
                .redirectError(folder.resolve("stderr").toFile())
                .start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isEqualTo(2);
        assertThat(out).isEmpty();
        assertThat(folder.resolve("stderr")).content().contains("zstd", ".gz");
        assertThat(file).hasContent("an older result");
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

    /** A device that is nowhere: without CUDA there is none at all, and no machine has as many. */
    @Test
    void cuda_device_that_is_not_there_is_code_four() {
        Outcome outcome = CliRunner.run("bench", "--device", "cuda:999", "--model", "random:gpt2");
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
