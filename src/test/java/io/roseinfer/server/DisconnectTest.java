package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.http.HttpLimits;
import io.roseinfer.server.http.RawClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that disconnect in any way and at any time cancel their requests. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DisconnectTest {
    private static final String LONG =
            "{\"prompt\":\"a\",\"max_tokens\":400,\"ignore_eos\":true,\"n\":2,\"stream\":%s}";

    private static void leave(RawClient client, String how) throws IOException {
        switch (how) {
            case "FIN" -> client.close();
            case "RST" -> client.reset();
            default -> client.halfClose();
        }
    }

    @ParameterizedTest
    @CsvSource({"FIN, true", "FIN, false", "RST, true", "RST, false", "half, true", "half, false"})
    void disconnect_cancels_the_client_s_requests(String how, boolean stream) throws Exception {
        Gate gate = new Gate(5);
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", LONG.formatted(stream)));
            gate.awaitReached();
            leave(client, how);
            // The device is paused until the server has detected it, so the requests cannot end by themselves.
            while (server.metric("roseinfer:connections") > 1) {
                Thread.onSpinWait();
            }
            gate.open();
            server.awaitIdle();
            server.awaitEnded(2);
            assertThat(server.engine.stats().requests().ended()).containsEntry(FinishReason.CANCELLED, 2L);
            while (server.log.stream().noneMatch(DisconnectTest::isCompletion)) {
                Thread.onSpinWait();
            }
            assertThat(server.log.stream().filter(DisconnectTest::isCompletion))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .contains("\"status\":499", "\"error\":\"the client has disconnected\"")
                            .contains(
                                    "\"cached_tokens\":0",
                                    "\"queue_ms\":",
                                    "\"ttft_ms\":",
                                    "\"decode_ms\":",
                                    "\"engine\":0"));
        }
    }

    private static boolean isCompletion(String line) {
        return line.contains("/v1/completions");
    }

    @Test
    void killed_clients_leave_no_running_requests() throws Exception {
        Gate gate = new Gate(3);
        try (TestServer server = TestServer.start(gate.options())) {
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                clients.add(server.client().send(RawClient.post("/v1/completions", LONG.formatted(true))));
            }
            while (server.engine.stats().requests().accepted() < 32) {
                Thread.onSpinWait();
            }
            for (RawClient client : clients) {
                client.reset();
            }
            while (server.metric("roseinfer:connections") > 1) {
                Thread.onSpinWait();
            }
            gate.open();
            server.awaitIdle();
            server.awaitEnded(32);
            assertThat(server.engine.stats().requests().ended()).containsEntry(FinishReason.CANCELLED, 32L);
            assertThat(server.complete("{\"prompt\":\"a\",\"max_tokens\":1}").status())
                    .isEqualTo(200);
        }
    }

    @Test
    void stalled_client_is_disconnected_and_its_requests_are_cancelled() throws Exception {
        HttpLimits limits = HttpLimits.defaults().withWriteStall(Duration.ofSeconds(1));
        try (TestServer server = new TestServer(
                        TestServer.engineOptions(),
                        SimOptions.defaults(),
                        TestServer.options().withHttp(limits));
                RawClient client = new RawClient(server.address(), 4096)) {
            String body =
                    "{\"prompt\":\"a\",\"max_tokens\":500,\"n\":16,\"ignore_eos\":true,\"stream\":true,\"logprobs\":20}";
            client.send(RawClient.post("/v1/completions", body));
            while (server.engine.stats().requests().accepted() < 16) {
                Thread.onSpinWait();
            }
            while (server.metric("roseinfer:connections") > 1) {
                Thread.onSpinWait();
            }
            server.awaitIdle();
            while (server.log.stream().noneMatch(DisconnectTest::isCompletion)) {
                Thread.onSpinWait();
            }
            long generated = (long) server.metric("vllm:generation_tokens_total");
            assertThat(server.log)
                    .anyMatch(line -> line.contains("\"status\":499")
                            && line.contains("\"error\":\"disconnected: the client has read nothing for 1 s\""))
                    .anyMatch(line -> line.contains("\"completion_tokens\":" + generated + ","));
        }
    }

    @Test
    void response_that_shutdown_cuts_is_logged_with_that_reason() throws Exception {
        Gate gate = new Gate(3);
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", LONG.formatted(true)));
            assertThat(client.head().status()).isEqualTo(200);
            gate.awaitReached();
            server.server.close();
            gate.open();
            while (server.log.isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(server.log)
                    .singleElement()
                    .satisfies(line ->
                            assertThat(line).contains("\"status\":499", "\"error\":\"the server is shutting down\""));
        }
    }

    /** Truncated requests, responses that are not read, stalls and nonsense. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void connections_closed_at_any_time_leak_no_block_and_no_connection(long seed) throws Exception {
        Random random = new Random(seed);
        try (TestServer server = TestServer.start()) {
            List<RawClient> open = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                RawClient client = server.client();
                byte[] request = RawClient.post("/v1/completions", LONG.formatted(random.nextBoolean()))
                        .getBytes(StandardCharsets.UTF_8);
                int length = random.nextInt(4) == 0 ? random.nextInt(request.length) : request.length;
                if (random.nextInt(10) == 0) {
                    random.nextBytes(request);
                }
                client.send(Arrays.copyOf(request, length));
                open.add(client);
                if (random.nextBoolean()) {
                    RawClient left = open.remove(random.nextInt(open.size()));
                    leave(left, random.nextBoolean() ? "FIN" : "RST");
                }
            }
            for (RawClient client : open) {
                leave(client, random.nextBoolean() ? "FIN" : "RST");
            }
            while (server.metric("roseinfer:connections") > 1) {
                Thread.onSpinWait();
            }
            server.awaitIdle();
            assertThat(server.complete("{\"prompt\":\"a\",\"max_tokens\":3}").status())
                    .as("seed %d", seed)
                    .isEqualTo(200);
        }
    }
}
