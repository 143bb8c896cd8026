package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.http.FakeServer;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

@Tag("process")
@Timeout(120)
class BenchServeCommandTest {
    /** Prevents a busy machine from making runs invalid. */
    private static final String PATIENT = "--max-dispatch-lag-ms=600000";

    @TempDir
    private Path directory;

    private Outcome bench(Path json, String... flags) {
        List<String> args = new ArrayList<>(List.of(
                "bench",
                "serve",
                "--num-prompts",
                "12",
                "--random-input-len",
                "7",
                "--random-output-len",
                "5",
                "--ignore-eos",
                "--json",
                json.toString()));
        args.addAll(List.of(flags));
        if (!args.contains("--backend=sim")) {
            args.add(PATIENT);
        }
        return CliRunner.run(args.toArray(String[]::new));
    }

    private Path file() {
        return directory.resolve("result.json");
    }

    private JsonNode result() throws IOException {
        return StrictJson.parse(Files.readAllBytes(file()));
    }

    @Test
    void results_have_vllm_keys_and_an_additional_block() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            Outcome outcome = bench(
                    file(),
                    "--base-url",
                    server.uri().toString(),
                    "--model=m",
                    "--metric-percentiles=50,99.9",
                    "--goodput=ttft:60000");
            assertThat(outcome.code()).as(outcome.err()).isZero();
            assertThat(outcome.out()).contains("Serving Benchmark Result", "Successful requests:", "Valid: yes");
            JsonNode result = result();
            assertThat(result.propertyNames())
                    .contains(
                            "duration",
                            "completed",
                            "total_input_tokens",
                            "total_output_tokens",
                            "request_throughput",
                            "request_goodput",
                            "output_throughput",
                            "total_token_throughput",
                            "mean_ttft_ms",
                            "median_tpot_ms",
                            "std_itl_ms",
                            "p50_e2el_ms",
                            "p99.9_ttft_ms");
            assertThat(result.get("completed").intValue()).isEqualTo(12);
            assertThat(result.get("total_output_tokens").intValue()).isEqualTo(60);
            assertThat(result.get("request_goodput").doubleValue())
                    .isEqualTo(result.get("request_throughput").doubleValue());
            JsonNode own = result.get("roseinfer");
            assertThat(own.get("validity").get("valid").booleanValue()).isTrue();
            assertThat(own.get("floor").get("token_events_s").doubleValue()).isPositive();
            assertThat(own.get("requests")).hasSize(12);
            assertThat(own.get("command").get(1).asString()).isEqualTo("serve");
        }
    }

    @Test
    void wrong_usage_exits_with_8_after_writing_results() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 6))) {
            Outcome outcome = bench(file(), "--base-url", server.uri().toString(), "--model=m");
            assertThat(outcome.code()).isEqualTo(8);
            assertThat(outcome.out()).contains("Valid: NO");
            assertThat(outcome.err())
                    .contains("the run is invalid: the server's counts are wrong for 12 of 12 requests");
            assertThat(result().get("roseinfer").get("validity").get("reasons")).hasSize(1);
        }
    }

    @Test
    void results_are_written_before_printing() throws IOException {
        Writer closed = new Writer() {
            @Override
            public void write(char[] text, int from, int length) throws IOException {
                throw new IOException("closed");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Path page = directory.resolve("page.html");
        Outcome outcome = CliRunner.run(
                closed,
                Map.of(),
                "bench",
                "serve",
                "--backend=sim",
                "--model=random:gpt2",
                "--step-costs=step:2",
                "--num-prompts=3",
                "--random-input-len=7",
                "--random-output-len=5",
                "--json=" + file(),
                "--report=" + page);
        assertThat(outcome.code()).isEqualTo(141);
        assertThat(result().get("completed").intValue()).isEqualTo(3);
        assertThat(page).exists();
    }

    @ParameterizedTest
    @CsvSource({"return_token_ids", "continuous_usage_stats", "e"})
    void fields_rejected_by_a_server_are_omitted_and_noted(String refused) throws IOException {
        List<FakeServer> itself = new ArrayList<>();
        FakeServer.Script tokens = FakeServer.tokens(5, 7, 5);
        String counts = refused.equals("e") ? "_ids|_stats" : refused;
        FakeServer.Script strict = (number, out) -> {
            if (Pattern.compile(counts)
                    .matcher(itself.getFirst().bodies().get(number))
                    .find()) {
                out.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                return true;
            }
            return tokens.answer(number, out);
        };
        try (FakeServer server = new FakeServer(strict)) {
            itself.add(server);
            Outcome outcome = bench(file(), "--base-url=" + server.uri(), "--model=m", "--max-concurrency=1");
            assertThat(outcome.code()).as(outcome.err()).isZero();
            assertThat(outcome.err()).contains(refused.equals("e") ? "continuous_usage_stats" : refused);
            assertThat(server.bodies()
                            .subList(
                                    server.bodies().size() - 12, server.bodies().size()))
                    .allMatch(body -> !Pattern.compile(counts).matcher(body).find())
                    .allMatch(body -> refused.equals("e") || body.contains("_stats") != body.contains("_ids"));
        }
    }

    @ParameterizedTest
    @CsvSource({"--report, --csv", "--json, --report", "--csv, --json"})
    void one_file_for_two_results_is_rejected_before_measuring(String one, String other) {
        String same = directory.resolve("same.json").toString();
        Outcome outcome = CliRunner.run("bench", "serve", "--backend=sim", one, same, other, same);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(one, other, "both name").hasLineCount(1);
    }

    @Test
    void requests_depend_on_the_seed_and_differ_in_the_warm_up() throws IOException {
        List<List<String>> sent = new ArrayList<>();
        for (int run = 0; run < 2; run++) {
            try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
                Outcome outcome = bench(
                        file(),
                        "--base-url",
                        server.uri().toString(),
                        "--model=m",
                        "--max-concurrency=1",
                        "--warmup-requests=12",
                        "--seed=5");
                assertThat(outcome.code()).as(outcome.err()).isZero();
                sent.add(server.bodies());
            }
        }
        assertThat(sent.get(0)).hasSize(25).doesNotHaveDuplicates().isEqualTo(sent.get(1));
    }

    @ParameterizedTest
    @CsvSource({"vllm, completions", "openai, completions", "openai-chat, chat"})
    void vllm_backend_names_select_the_endpoint(String backend, String endpoint) throws IOException {
        Path prompts = Files.writeString(directory.resolve("prompts.jsonl"), "{\"prompt\":\"hello\"}\n".repeat(12));
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            Outcome unused = bench(
                    file(),
                    "--base-url=" + server.uri(),
                    "--model=m",
                    "--dataset=jsonl",
                    "--dataset-path=" + prompts,
                    "--backend=" + backend);
        }
        assertThat(result().get("backend").asString()).isEqualTo("http");
        assertThat(result().get("endpoint_type").asString()).isEqualTo(endpoint);
        assertThat(result().get("roseinfer")
                        .get("settings")
                        .get("endpoint_type")
                        .asString())
                .isEqualTo(endpoint);
    }

    @Test
    void chat_endpoint_gets_random_prompts_as_words() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            Outcome unused = bench(file(), "--base-url=" + server.uri(), "--model=m", "--backend=openai-chat");
            assertThat(server.bodies().stream().filter(body -> body.contains("\"max_tokens\":5")))
                    .hasSize(12)
                    .allSatisfy(
                            body -> assertThat(body)
                                    .matches(
                                            "(?s).*\"messages\":\\[\\{\"role\":\"user\",\"content\":\"([a-z]+ ){6}[a-z]+\"}].*"));
        }
    }

    @Test
    void chat_endpoint_gets_neither_given_token_ids_nor_conversations() throws IOException {
        Path ids = Files.writeString(directory.resolve("ids.jsonl"), "{\"prompt\":[1,2]}\n");
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            String url = "--base-url=" + server.uri();
            assertThat(bench(
                                    file(),
                                    url,
                                    "--model=m",
                                    "--endpoint-type=chat",
                                    "--dataset=jsonl",
                                    "--dataset-path=" + ids)
                            .err())
                    .contains("--endpoint-type chat takes text, and these prompts are token ids");
            assertThat(bench(file(), url, "--model=m", "--endpoint-type=chat", "--conversation-turns=3")
                            .err())
                    .contains("--conversation-turns needs token ids, and --endpoint-type chat takes text");
        }
    }

    @Test
    void in_process_engine_is_measured_without_a_server() throws IOException {
        Outcome outcome =
                bench(file(), "--backend=engine", "--device=sim", "--model=random:gpt2", "--request-rate=2000");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(result().get("total_output_tokens").intValue()).isEqualTo(60);
        assertThat(result().get("roseinfer").get("settings").get("device").asString())
                .isEqualTo("sim");
    }

    private String[] grammarFlags() throws IOException {
        String line = "{\"prompt\":\"hello\",\"structured_outputs\":{\"regex\":\"[0-9]{3}\"}}\n";
        Path prompts = Files.writeString(directory.resolve("prompts.jsonl"), line.repeat(12));
        return new String[] {
            "--backend=engine",
            "--device=sim",
            "--model=random:gpt2",
            "--dataset=jsonl",
            "--dataset-path=" + prompts,
            "--request-rate=2000"
        };
    }

    private Outcome benchGrammars() throws IOException {
        List<String> args = new ArrayList<>(List.of("bench", "serve", "--num-prompts=12", "--json=" + file(), PATIENT));
        args.addAll(List.of(grammarFlags()));
        Outcome outcome = CliRunner.run(args.toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        return outcome;
    }

    @Test
    void in_process_engine_follows_the_grammars_of_a_file() throws IOException {
        assertThat(bench(file(), grammarFlags()).err())
                .contains("--ignore-eos cannot be combined with structured_outputs");
        benchGrammars();
        assertThat(result().get("total_output_tokens").intValue()).isBetween(12, 36);
    }

    @Test
    void text_and_results_have_the_times_of_grammars() throws IOException {
        Outcome outcome = benchGrammars();
        JsonNode grammars = result().get("roseinfer").get("grammars");
        JsonNode compile = grammars.get("compile_ms");
        assertThat(compile.get("count").intValue()).isEqualTo(12);
        assertThat(compile.get("max").doubleValue())
                .isGreaterThanOrEqualTo(compile.get("mean").doubleValue());
        assertThat(compile.get("mean").doubleValue()).isPositive();
        JsonNode mask = grammars.get("mask_us");
        assertThat(mask.get("count").intValue()).isBetween(12, 36);
        assertThat(outcome.out())
                .containsPattern("Restricted requests: +12\n")
                .containsPattern(String.format(
                        Locale.ROOT,
                        "Mean compile time \\(ms\\): +%.3f\n",
                        compile.get("mean").doubleValue()))
                .containsPattern("Masks after the first: +" + mask.get("count").intValue() + "\n")
                .containsPattern(String.format(
                        Locale.ROOT,
                        "Time per mask mean/p99 \\(us\\): +%.1f/%.1f\n",
                        mask.get("mean").doubleValue(),
                        mask.get("p99").doubleValue()));
    }

    @Test
    void text_and_results_without_grammars_have_no_times_of_them() throws IOException {
        Outcome outcome = bench(file(), "--backend=engine", "--device=sim", "--model=random:gpt2");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(result().get("roseinfer").get("grammars")).isNull();
        assertThat(outcome.out()).doesNotContain("Grammars", "Compile time", "mask");
    }

    @Test
    void in_process_engine_rejects_tools_of_a_file() throws IOException {
        Path prompts = Files.writeString(
                directory.resolve("prompts.jsonl"), "{\"prompt\":\"hello\",\"tools\":[],\"tool_choice\":\"none\"}\n");
        Outcome outcome = CliRunner.run(
                "bench",
                "serve",
                "--backend=engine",
                "--device=sim",
                "--model=random:gpt2",
                "--dataset=jsonl",
                "--dataset-path=" + prompts);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("--backend engine takes no tools").hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource({"--backend=engine, --device=sim", "--backend=sim, --step-costs=step:2"})
    void prompts_beyond_the_context_are_rejected_before_measuring(String backend, String how) {
        Outcome outcome = bench(file(), backend, how, "--model=builtin:tiny", "--random-prefix-len=505");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("512", "--random-input-len").hasLineCount(1);
        assertThat(file()).doesNotExist();
    }

    @Test
    void requests_beyond_the_context_are_rejected_before_measuring() {
        Outcome outcome =
                bench(file(), "--backend=engine", "--device=sim", "--model=builtin:tiny", "--random-prefix-len=501");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("the smallest has 513 tokens", "context is 512", "--random-output-len")
                .hasLineCount(1);
    }

    @Test
    void engine_flags_are_noted_as_without_effect_on_a_server() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            Outcome outcome = bench(file(), "--base-url", server.uri().toString(), "--model=m", "--max-batch-size=3");
            assertThat(outcome.code()).as(outcome.err()).isZero();
            assertThat(outcome.err()).contains("--max-batch-size has no effect").hasLineCount(1);
        }
    }

    @Test
    void prompts_beyond_the_context_of_a_server_are_rejected_before_measuring() throws IOException {
        String models = "{\"data\":[{\"id\":\"m\",\"max_model_len\":6}]}";
        FakeServer.Script script = (number, out) -> {
            out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + models.length() + "\r\n\r\n" + models)
                    .getBytes(StandardCharsets.US_ASCII));
            return true;
        };
        try (FakeServer server = new FakeServer(script)) {
            Outcome outcome = bench(file(), "--base-url", server.uri().toString());
            assertThat(outcome.code()).isEqualTo(2);
            assertThat(outcome.err()).contains("7 tokens", "context of 6").hasLineCount(1);
            assertThat(server.bodies()).hasSize(1);
        }
    }

    @Test
    void client_baseline_is_measured_against_the_null_server() throws IOException {
        Outcome outcome = bench(file(), "--backend=null", "--request-rate=1000", "--burstiness=0.5");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(result().get("completed").intValue()).isEqualTo(12);
    }

    @Test
    void client_baseline_is_measured_once_per_process() throws IOException {
        List<JsonNode> baselines = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            assertThat(bench(file(), "--backend=null").code()).isZero();
            baselines.add(result().get("roseinfer").get("floor"));
        }
        assertThat(baselines.getFirst()).isNotNull().isEqualTo(baselines.getLast());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "--base-url=https://x | --base-url is 'https://x'; it must be http://HOST:PORT",
                "--dataset=jsonl | --dataset jsonl needs a file; add --dataset-path FILE",
                "--goodput=ttft | --goodput is 'ttft'; it must be ttft:MS",
                "--burstiness=2 | --burstiness shapes the intervals of --request-rate, which is inf",
                "--request-rate=0 | --request-rate is 0; it must be above 0, or inf",
                "--think-time-s=1 | --think-time-s is between turns; add --conversation-turns N",
                "--clip-to=5 | --clip-to applies to traces and synthetic conversations; leave it out with --dataset random",
                "--percentile-metrics=foo | 'foo' is not a list of ttft,tpot,itl,e2el"
            })
    void invalid_flags_are_reported_in_one_line(String flag, String message) throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(1, 1, 1))) {
            String url = flag.startsWith("--base-url") ? flag : "--base-url=" + server.uri();
            Outcome outcome = flag.equals(url)
                    ? CliRunner.run("bench", "serve", flag)
                    : CliRunner.run("bench", "serve", url, "--model=m", flag);
            assertThat(outcome.code()).isEqualTo(2);
            assertThat(outcome.err()).contains(message);
        }
    }

    @Test
    void signal_ends_a_run_whose_policy_loops_and_names_the_line() throws Exception {
        Path policy = directory.resolve("Loops.java");
        Files.writeString(policy, """
                import io.roseinfer.scheduler.policy.AdmissionPolicy;
                import io.roseinfer.scheduler.policy.QueueView;
                import io.roseinfer.scheduler.policy.WaitingRequest;

                public final class Loops implements AdmissionPolicy {
                    public int lookahead() {
                        return 1;
                    }

                    public long rank(WaitingRequest request, QueueView queue) {
                        System.err.println("looping");
                        while (true) {}
                    }
                }
                """);
        Process process = new ProcessBuilder(CommandJvm.withDefaultSignals(
                        "TERM",
                        "bench",
                        "serve",
                        "--backend=sim",
                        "--num-prompts=2",
                        "--prefill-admission-policy=" + policy))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader errors = process.errorReader(StandardCharsets.UTF_8)) {
            String line = errors.readLine();
            while (line != null && !line.equals("looping")) {
                line = errors.readLine();
            }
            assertThat(process.toHandle().destroy()).isTrue();
            assertThat(errors.readAllAsString())
                    .contains(
                            "the run did not stop within 5 s of the signal; it is still in Loops.rank(Loops.java:12)");
            assertThat(process.waitFor()).isEqualTo(128 + 15);
        } finally {
            process.destroyForcibly();
        }
    }
}
