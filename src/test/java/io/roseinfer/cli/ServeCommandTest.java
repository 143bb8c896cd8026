package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Tests of {@code roseinfer serve}; tests of signals start a separate process. */
@Tag("process")
@Timeout(120)
class ServeCommandTest {
    /** The time that begins each message of a server. */
    private static final String TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z ";

    /** More tokens than are generated during a test. */
    private static final int CONTEXT = 4_000_000;

    private static final String ENDLESS = "{\"prompt\":[1],\"max_tokens\":3000000,\"ignore_eos\":true,\"stream\":true}";

    @TempDir
    private Path directory;

    /** A server process that has printed its address. */
    private record Running(Process process, BufferedReader out, InetSocketAddress address) implements AutoCloseable {
        void signal(String name) throws Exception {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        }

        String errors() throws IOException {
            return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private Running serve(String... flags) throws Exception {
        Path config = Files.writeString(directory.resolve("config.json"), """
                {"model_type":"gpt2","n_embd":2,"n_head":1,"n_layer":1,"vocab_size":50257,"n_positions":%d}""".formatted(CONTEXT));
        List<String> command = CommandJvm.withDefaultSignals(
                "TERM,INT", "serve", "--device=sim", "--model=random:" + config, "--kv-blocks=300000", "--port=0");
        command.addAll(List.of(flags));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("ROSEINFER_SIM_FAULTS", "error=11,nan=12,slow=13,death=14");
        Process process = builder.start();
        BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String printed = out.readLine();
        String line = command.contains("--access-log=json")
                ? StrictJson.mapper().readTree(printed).get("message").asString()
                : printed;
        assertThat(line).startsWith("Listening on http://127.0.0.1:");
        URI uri = URI.create(line.substring("Listening on ".length()));
        return new Running(process, out, new InetSocketAddress(uri.getHost(), uri.getPort()));
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void signal_ends_an_idle_server_with_0(String signal) throws Exception {
        try (Running server = serve();
                RawClient client = new RawClient(server.address())) {
            assertThat(client.call(RawClient.get("/health")).status()).isEqualTo(200);
            server.signal(signal);
            assertThat(server.process().waitFor()).isZero();
            assertThat(server.out().readLine()).isNull();
            assertThat(server.errors()).matches("""
                            TIMEroseinfer: warmed up in \\d+\\.\\d\\d s
                            TIMEroseinfer: version .*, on simulated device, .*, KV blocks 300000 of 16 tokens, batch 8, .*
                            TIMEroseinfer: shutting down; no requests in flight
                            """.replace("TIME", TIME));
        }
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    @Test
    void limits_of_each_replica_are_printed_at_the_start() throws Exception {
        try (Running server =
                serve("--replicas=2", "--max-inflight-requests=7", "--max-active-requests=4", "--request-timeout=60")) {
            server.signal("TERM");
            assertThat(server.process().waitFor()).isZero();
            assertThat(server.errors())
                    .contains("; 2 replicas, each with KV blocks 300000 of 16 tokens, batch 8, active requests up to 4;"
                            + " in-flight requests up to 7, timeout 60 s, drain 30 s\n")
                    .contains("--drain-seconds 30 is less than --request-timeout 60,"
                            + " so a shutdown can cut off completions\n")
                    .contains("--max-active-requests 4 for each of 2 replicas has no effect with"
                            + " --max-inflight-requests 7\n");
        }
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    @Test
    void unfinished_completions_after_the_grace_period_are_reported() throws Exception {
        try (Running server = serve("--drain-seconds=0");
                RawClient client = new RawClient(server.address())) {
            client.send(RawClient.post("/v1/completions", ENDLESS));
            assertThat(client.head().status()).isEqualTo(200);
            server.signal("TERM");
            assertThat(client.rest()).contains("shutting down").doesNotContain("[DONE]");
            assertThat(server.process().waitFor()).isZero();
            assertThat(server.errors())
                    .contains("shutting down; waiting up to 0 s (--drain-seconds) for requests in flight: 1\n")
                    .contains("shut down: 1 of 1 requests in flight were cut off after 0 s\n");
        }
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    @Test
    void drain_without_a_cut_request_is_reported() throws Exception {
        try (Running server = serve("--drain-seconds=100");
                RawClient client = new RawClient(server.address());
                RawClient other = new RawClient(server.address())) {
            client.send(RawClient.post("/v1/completions", ENDLESS));
            assertThat(client.head().status()).isEqualTo(200);
            server.signal("TERM");
            Answer health = other.call(RawClient.get("/health"));
            while (health.status() == 200) {
                health = other.call(RawClient.get("/health"));
            }
            client.reset();
            assertThat(server.process().waitFor()).isZero();
            assertThat(server.errors()).endsWith("roseinfer: shut down; all requests in flight have ended\n");
        }
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    @ParameterizedTest
    @CsvSource({"TERM, 143", "INT, 130"})
    void second_signal_ends_the_process_immediately(String signal, int code) throws Exception {
        try (Running server = serve("--drain-seconds=100");
                RawClient client = new RawClient(server.address());
                RawClient other = new RawClient(server.address())) {
            client.send(RawClient.post("/v1/completions", ENDLESS));
            assertThat(client.head().status()).isEqualTo(200);
            server.signal(signal);
            Answer health = other.call(RawClient.get("/health"));
            while (health.status() == 200) {
                health = other.call(RawClient.get("/health"));
            }
            assertThat(health.status()).isEqualTo(503);
            server.signal(signal);
            assertThat(server.process().waitFor()).isEqualTo(code);
            assertThat(server.errors()).endsWith("without waiting for requests in flight\n");
        }
    }

    /** Returns the lines on standard error of a server that has rejected a connection and was stopped. */
    private List<String> errorsAfterRejection(String... flags) throws Exception {
        List<String> all = new ArrayList<>(List.of(flags));
        all.add("--max-connections=1");
        try (Running server = serve(all.toArray(String[]::new));
                RawClient first = new RawClient(server.address())) {
            assertThat(first.call(RawClient.get("/version")).status()).isEqualTo(200);
            try (RawClient second = new RawClient(server.address())) {
                assertThat(second.call(RawClient.get("/version")).status()).isEqualTo(503);
            }
            server.signal("TERM");
            assertThat(server.process().waitFor()).isZero();
            return server.errors().lines().toList();
        }
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    @Test
    void warning_of_the_server_is_one_line_that_names_the_flag() throws Exception {
        assertThat(errorsAfterRejection())
                .allMatch(line -> line.matches(TIME + "roseinfer: .*"))
                .anyMatch(line -> line.matches(
                        TIME + "roseinfer: connections are rejected because --max-connections \\(1\\) are.*"));
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs env --default-signal")
    @Test
    void every_line_is_json_with_the_json_log() throws Exception {
        List<JsonNode> lines = errorsAfterRejection("--access-log=json").stream()
                .map(StrictJson.mapper()::readTree)
                .toList();
        assertThat(lines)
                .allMatch(line -> line.has("time") && line.has("level"))
                .anyMatch(line -> line.path("status").asInt() == 200
                        && line.path("level").asString().equals("info"))
                .anyMatch(line -> line.path("status").asInt() == 503
                        && line.path("level").asString().equals("error"))
                .anyMatch(line -> line.path("message").asString().startsWith("shutting down"))
                .filteredOn(line -> line.path("level").asString().equals("warning"))
                .singleElement()
                .satisfies(line -> assertThat(line.get("message").asString()).contains("--max-connections (1)"));
    }

    private static String body(int firstToken, String more) {
        return "{\"prompt\":[" + firstToken + "],\"max_tokens\":5,\"ignore_eos\":true" + more + "}";
    }

    private static Answer complete(Running server, String body, String... headers) throws IOException {
        try (RawClient client = new RawClient(server.address())) {
            return client.call(RawClient.post("/v1/completions", body, headers));
        }
    }

    @Test
    void failed_step_fails_only_its_requests() throws Exception {
        try (Running server = serve()) {
            failsOnlyItsRequests(server, "");
            failsOnlyItsRequests(server, ",\"stream\":true");
        }
    }

    private static void failsOnlyItsRequests(Running server, String more) throws IOException {
        for (int first : new int[] {11, 12}) {
            Answer failed = complete(server, body(first, more));
            assertThat(failed.status()).as("token %d%s", first, more).isEqualTo(500);
            assertThat(failed.body()).contains("\"code\":500").doesNotContain("\tat ", "[DONE]");
            assertThat(complete(server, body(1, more)).status()).isEqualTo(200);
        }
        assertThat(complete(server, body(13, more)).status()).isEqualTo(200);
        Answer late = complete(server, body(13, more), "X-Request-Timeout: 0.2\r\n");
        assertThat(late.body())
                .as("status %d: in time for its slow step or not even for that", late.status())
                .contains(late.status() == 503 ? "timed out before its first token" : "\"stop_reason\":\"deadline\"");
        assertThat(complete(server, body(1, more)).status()).isEqualTo(200);
        try (RawClient client = new RawClient(server.address())) {
            assertThat(client.call(RawClient.get("/health")).status()).isEqualTo(200);
        }
    }

    @Test
    void failed_engine_ends_every_stream_with_its_reason_and_exits_with_7() throws Exception {
        try (Running server = serve();
                RawClient running = new RawClient(server.address());
                RawClient last = new RawClient(server.address())) {
            running.send(RawClient.post("/v1/completions", ENDLESS));
            assertThat(running.head().status()).isEqualTo(200);
            last.send(RawClient.post("/v1/completions", body(14, "")));
            Answer answer = last.answer();
            assertThat(answer.status()).isIn(500, 503);
            assertThat(answer.body()).contains("the simulated device is lost").doesNotContain("\tat ");
            assertThat(running.rest())
                    .contains("the simulated device is lost", "\"error\":")
                    .doesNotContain("[DONE]", "\"finish_reason\":\"");
            assertThat(server.process().waitFor()).isEqualTo(7);
            assertThat(server.errors()).contains("the simulated device is lost").doesNotContain("\tat ");
            assertThat(server.out().readLine()).isNull();
        }
    }

    static boolean hasFullDevice() {
        return Files.isWritable(Path.of("/dev/full"));
    }

    @EnabledIf("hasFullDevice")
    @Test
    void full_standard_output_leaves_the_server_running() throws Exception {
        Process process = new ProcessBuilder(CommandJvm.withDefaultSignals(
                        "TERM", "serve", "--device=sim", "--model=builtin:tiny", "--port=0"))
                .redirectOutput(new File("/dev/full"))
                .start();
        try (BufferedReader errors =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            String line = errors.readLine();
            while (line != null && !line.contains("listening on http://127.0.0.1:")) {
                line = errors.readLine();
            }
            assertThat(line).matches(TIME + "roseinfer: standard output cannot be written; listening on .*");
            process.destroy();
            assertThat(process.waitFor()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void failure_is_an_object_if_the_access_log_is_json() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Outcome outcome = CliRunner.run(
                    "serve",
                    "--device=sim",
                    "--model=random:gpt2",
                    "--port=" + taken.getLocalPort(),
                    "--access-log=json");
            JsonNode line = StrictJson.parse(outcome.err().getBytes(StandardCharsets.UTF_8));
            assertThat(line.get("level").stringValue()).isEqualTo("error");
            assertThat(line.get("message").stringValue()).startsWith("cannot listen on 127.0.0.1 port ");
        }
    }

    @Test
    void used_port_is_rejected_before_the_model_is_loaded() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(taken.getLocalPort());
            Outcome outcome = CliRunner.run("serve", "--device", "sim", "--model", "random:gpt2", "--port", port);
            assertThat(outcome.code()).isEqualTo(10);
            assertThat(outcome.err())
                    .contains("port " + port)
                    .contains("choose another --port")
                    .doesNotContain("Warm-up")
                    .hasLineCount(1);
            assertThat(outcome.out()).isEmpty();
        }
    }

    /** An address for documentation, which no machine has. */
    @Test
    void host_of_another_machine_is_rejected_without_a_warning_of_its_reach() {
        Outcome outcome =
                CliRunner.run("serve", "--device", "sim", "--model", "random:gpt2", "--host", "192.0.2.1", "--port=0");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("cannot listen on 192.0.2.1")
                .contains("choose another --host")
                .doesNotContain("--port", "reachable")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--port=70000 | --port",
                "--port=-1 | --port",
                "--host=no.such.host.invalid | --host",
                "--request-timeout=0 | --request-timeout",
                "--drain-seconds=-1 | --drain-seconds",
                "--max-inflight-requests=0 | --max-inflight-requests",
                "--max-connections=0 | --max-connections",
                "--access-log=loud | --access-log",
                "--api-key=two words | API key",
                "--api-key-file=no-such-file | --api-key-file"
            })
    void wrong_flag_is_rejected_by_name(String flag, String named) {
        Outcome outcome = CliRunner.run("serve", "--device", "sim", "--model", "random:gpt2", flag);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(named);
        assertThat(outcome.out()).isEmpty();
    }

    @Test
    void file_without_a_key_is_rejected_by_its_name() throws IOException {
        Path file = Files.writeString(directory.resolve("empty"), "\n");
        Outcome outcome = CliRunner.run("serve", "--device=sim", "--model=random:gpt2", "--api-key-file=" + file);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("--api-key-file " + file + ": the API key must")
                .hasLineCount(1);
    }

    @Test
    void file_with_several_lines_is_rejected_with_their_number() throws IOException {
        Path file = Files.writeString(directory.resolve("two"), "secret\nanother\n");
        Outcome outcome = CliRunner.run("serve", "--device=sim", "--model=random:gpt2", "--api-key-file=" + file);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("the API key must be one line of visible ASCII characters without spaces; it has 2 lines");
    }

    /** There is no such model, so the command ends after printing its warnings. */
    @Test
    void public_address_and_visible_api_key_print_warnings() throws IOException {
        Path file = Files.writeString(directory.resolve("key"), "secret\n");
        String wide = warnings("--host=0.0.0.0");
        assertThat(wide).contains("is reachable from other machines");
        assertThat(warnings("--host=0.0.0.0", "--api-key-file=" + file)).doesNotContain("reachable", "secret");
        assertThat(warnings("--host=0.0.0.0", "--api-key=secret"))
                .contains("process list")
                .doesNotContain("secret");
    }

    private static String warnings(String... flags) {
        List<String> args = new ArrayList<>(List.of("serve", "--device=sim", "--model=random:none", "--port=0"));
        args.addAll(List.of(flags));
        Outcome outcome = CliRunner.run(args.toArray(String[]::new));
        assertThat(outcome.code()).isEqualTo(3);
        return outcome.err();
    }
}
