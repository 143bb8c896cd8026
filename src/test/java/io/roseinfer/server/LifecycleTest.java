package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimFaults;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.server.api.CallLimits;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Overload, timeouts and shutdown. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LifecycleTest {
    private static final String STREAM = "{\"prompt\":\"a\",\"max_tokens\":20,\"ignore_eos\":true,\"stream\":true}";
    private static final String PLAIN = "{\"prompt\":\"a\",\"max_tokens\":20,\"ignore_eos\":true}";

    static CompletableFuture<Integer> drain(TestServer server, Duration grace) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return server.server.drain(grace);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                task -> new Thread(task).start());
    }

    private static void awaitDraining(TestServer server) throws Exception {
        while (server.get("/health").status() == 200) {
            Thread.onSpinWait();
        }
    }

    @Test
    void requests_beyond_the_limit_get_retry_after() throws Exception {
        Gate gate = new Gate(0);
        try (TestServer server = new TestServer(
                        TestServer.engineOptions().withMaxInflightRequests(2), gate.options(), TestServer.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", PLAIN));
            gate.awaitReached();
            Answer refused = server.complete("{\"prompt\":\"a\",\"n\":2}");
            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.header("retry-after")).contains("1");
            assertThat(refused.body())
                    .contains("the maximum is 2; retry later\"")
                    .doesNotContain("max_inflight_requests");
            gate.open();
            assertThat(client.answer().status()).isEqualTo(200);
            server.awaitEnded(2);
            assertThat(server.complete("{\"prompt\":\"a\",\"n\":2}").status()).isEqualTo(200);
        }
    }

    @Test
    void request_that_times_out_returns_its_tokens_so_far() throws Exception {
        Gate gate = new Gate(3);
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", PLAIN, "X-Request-Timeout: 1000\r\n"));
            gate.awaitReached();
            try (RawClient late = server.client()) {
                late.send(RawClient.post("/v1/completions", PLAIN, "X-Request-Timeout: 999.5\r\n"));
                while (server.engine.stats().requests().accepted() < 2) {
                    Thread.onSpinWait();
                }
                server.aheadNanos.set(Duration.ofSeconds(2000).toNanos());
                gate.open();
                Answer unserved = late.answer();
                assertThat(unserved.status()).isEqualTo(503);
                assertThat(unserved.body()).contains("timed out before its first token");
            }
            Answer answer = client.answer();
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.body())
                    .contains("\"finish_reason\":\"abort\"", "\"stop_reason\":\"deadline\"")
                    .doesNotContain("\"completion_tokens\":20");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {PLAIN, STREAM})
    void date_of_a_response_is_the_time_of_its_beginning(String body) throws Exception {
        Gate gate = new Gate(0);
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", body));
            gate.awaitReached();
            server.aheadNanos.set(Duration.ofSeconds(10).toNanos());
            gate.open();
            assertThat(client.answer().header("date")).contains("Fri, 15 Jan 2027 08:00:10 GMT");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "x", "1e400", "NaN", "1000001"})
    void invalid_timeout_is_rejected(String seconds) throws Exception {
        try (TestServer server = TestServer.start()) {
            Answer answer = server.complete(PLAIN, "X-Request-Timeout: " + seconds + "\r\n");
            assertThat(answer.status()).isEqualTo(400);
            assertThat(TestServer.json(answer).get("error").get("param").stringValue())
                    .isEqualTo("x-request-timeout");
        }
    }

    @Test
    void draining_finishes_requests_in_flight_and_rejects_new_ones() throws Exception {
        Gate gate = new Gate(3);
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", STREAM));
            gate.awaitReached();
            CompletableFuture<Integer> drained = drain(server, Duration.ofSeconds(50));
            awaitDraining(server);
            assertThat(server.server.callsInFlight()).isEqualTo(1);
            Answer refused = server.complete(PLAIN);
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.header("retry-after")).contains("1");
            assertThat(server.get("/ping").status()).isEqualTo(200);
            gate.open();
            List<String> events = TestServer.events(client.answer().body());
            assertThat(events).hasSize(21).last().isEqualTo("[DONE]");
            assertThat(drained.get()).isZero();
            assertThat(client.rest()).isEmpty();
        }
    }

    @Test
    void draining_ends_longer_requests_with_an_error() throws Exception {
        // The engine needs longer for these tokens than the drain to end the requests.
        String tokens = "\"max_tokens\":900";
        Gate gate = new Gate(3);
        try (TestServer server = TestServer.start(gate.options());
                RawClient stream = server.client();
                RawClient plain = server.client()) {
            stream.send(RawClient.post("/v1/completions", STREAM.replace("\"max_tokens\":20", tokens)));
            assertThat(stream.head().status()).isEqualTo(200);
            plain.send(RawClient.post("/v1/completions", PLAIN.replace("\"max_tokens\":20", tokens)));
            gate.awaitReached();
            while (server.engine.stats().requests().accepted() < 2) {
                Thread.onSpinWait();
            }
            CompletableFuture<Integer> drained = drain(server, Duration.ZERO);
            awaitDraining(server);
            gate.open();
            String rest = stream.rest();
            assertThat(rest).contains("shutting down").doesNotContain("[DONE]", "\"finish_reason\":\"");
            Answer answer = plain.answer();
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.body()).contains("shutting down");
            assertThat(drained.get()).isPositive();
            assertThat(server.log.stream().filter(line -> line.contains("/v1/completions")))
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line).contains("\"status\":503", "\"finish_reason\":\"abort\""));
        }
    }

    @Test
    void failed_step_fails_its_requests_only() throws Exception {
        SimOptions sim = SimOptions.defaults().withOnStep(step -> {
            if (step == 3) {
                throw new DeviceFailure("the device hiccuped", true);
            }
        });
        try (TestServer server = TestServer.start(sim)) {
            Answer answer = server.complete(PLAIN);
            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.body())
                    .contains("hiccuped", "InternalServerError")
                    .doesNotContain("\tat ");
            assertThat(server.complete(PLAIN).status()).isEqualTo(200);
            assertThat(server.get("/health").status()).isEqualTo(200);
        }
    }

    @Test
    void failed_stream_ends_with_an_error_and_without_done() throws Exception {
        SimOptions sim = SimOptions.defaults().withOnStep(step -> {
            if (step == 3) {
                throw new DeviceFailure("the device hiccuped", true);
            }
        });
        try (TestServer server = TestServer.start(sim)) {
            List<String> events = TestServer.events(server.complete(STREAM).body());
            assertThat(TestServer.json(events.getLast())
                            .get("error")
                            .get("code")
                            .intValue())
                    .isEqualTo(500);
            assertThat(events).hasSize(4).doesNotContain("[DONE]");
            server.server.close();
            assertThat(server.log)
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("\"status\":500", "\"finish_reason\":\"error\""));
        }
    }

    @Test
    void engine_failure_is_reported_to_all_clients() throws Exception {
        SimOptions sim = SimOptions.defaults().withOnStep(step -> {
            if (step == 3) {
                throw new DeviceFailure("the device is lost", false);
            }
        });
        try (TestServer server = TestServer.start(sim)) {
            Answer answer = server.complete(PLAIN);
            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.body()).contains("the device is lost");
            Answer later = server.complete(PLAIN);
            assertThat(later.status()).isEqualTo(503);
            assertThat(later.headers()).containsEntry("retry-after", "1").doesNotContainKey("x-should-retry");
            assertThat(server.server.failure().get()).hasMessageContaining("the device is lost");
            for (String path : new String[] {"/health", "/ping"}) {
                assertThat(server.get(path).status()).as(path).isEqualTo(503);
                assertThat(server.get(path).body()).contains("the device is lost");
            }
        }
    }

    @Test
    void clients_are_told_not_to_repeat_a_request_that_was_running_when_the_engine_failed() throws Exception {
        SimOptions dying = SimOptions.defaults().withFaults(SimFaults.parse("the test", "death=14"));
        try (TestServer server = TestServer.start(dying)) {
            Answer answer = server.complete("{\"prompt\":[14],\"max_tokens\":5}");
            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.body()).contains("; this request was running and may be the cause");
            assertThat(answer.headers())
                    .containsEntry("x-should-retry", "false")
                    .doesNotContainKey("retry-after");
        }
    }

    @Test
    void metrics_count_the_work_done() throws Exception {
        try (TestServer server = TestServer.start()) {
            assertThat(server.complete("{\"prompt\":[1,2,3],\"max_tokens\":5,\"n\":2,\"ignore_eos\":true}")
                            .status())
                    .isEqualTo(200);
            server.awaitEnded(2);
            String labels = "{engine=\"0\",model_name=\"sim\"}";
            assertThat(server.metric("vllm:generation_tokens_total" + labels)).isEqualTo(10);
            assertThat(server.metric("vllm:prompt_tokens_total" + labels)).isEqualTo(6);
            assertThat(server.metric("vllm:num_requests_running" + labels)).isZero();
            assertThat(server.metric("vllm:kv_cache_usage_perc" + labels)).isZero();
            assertThat(server.metric("vllm:time_to_first_token_seconds_count" + labels))
                    .isEqualTo(2);
            assertThat(server.metric("vllm:inter_token_latency_seconds_count" + labels))
                    .isEqualTo(8);
            assertThat(server.metric("vllm:request_prompt_tokens_sum" + labels)).isEqualTo(6);
            assertThat(server.metric("vllm:iteration_tokens_total_count" + labels))
                    .isEqualTo((double) server.engine.stats().steps());
            assertThat(server.metric(
                            "vllm:request_success_total{engine=\"0\",finished_reason=\"length\",model_name=\"sim\"}"))
                    .isEqualTo(2);
            assertThat(server.metric("http_requests_total{handler=\"/v1/completions\",method=\"POST\",status=\"2xx\"}"))
                    .isEqualTo(1);
            assertThat(server.get("/metrics").header("content-type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain; version=0.0.4"));
        }
    }

    @Test
    void metrics_include_tokens_of_unfinished_requests() throws Exception {
        Gate gate = new Gate(5);
        String labels = "{engine=\"0\",model_name=\"sim\"}";
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            client.send(RawClient.post("/v1/completions", "{\"prompt\":[1,2,3],\"max_tokens\":9,\"ignore_eos\":true}"));
            gate.awaitReached();
            double delivered = server.metric("vllm:generation_tokens_total" + labels);
            assertThat(delivered).isBetween(2.0, 8.0);
            for (int scrape = 0; scrape < 2; scrape++) {
                assertThat(server.metric("vllm:time_to_first_token_seconds_count" + labels))
                        .isEqualTo(1);
                assertThat(server.metric("vllm:inter_token_latency_seconds_count" + labels))
                        .isEqualTo(delivered - 1);
            }
            assertThat(server.metric("vllm:e2e_request_latency_seconds_count" + labels))
                    .isZero();
            gate.open();
            assertThat(client.answer().status()).isEqualTo(200);
            server.awaitEnded(1);
            assertThat(server.metric("vllm:time_to_first_token_seconds_count" + labels))
                    .isEqualTo(1);
            assertThat(server.metric("vllm:inter_token_latency_seconds_count" + labels))
                    .isEqualTo(8);
        }
    }

    @Test
    void timeouts_are_counted_apart_from_other_aborts() throws Exception {
        Gate gate = new Gate(3);
        try (TestServer server = TestServer.start(gate.options());
                RawClient client = server.client()) {
            String series = "roseinfer:requests_timed_out_total{engine=\"0\",model_name=\"sim\"}";
            try (RawClient leaving = server.client()) {
                leaving.send(RawClient.post("/v1/completions", PLAIN));
                gate.awaitReached();
            }
            client.send(RawClient.post("/v1/completions", PLAIN, "X-Request-Timeout: 1000\r\n"));
            while (server.engine.stats().requests().accepted() < 2) {
                Thread.onSpinWait();
            }
            assertThat(server.metric(series)).isZero();
            server.aheadNanos.set(Duration.ofSeconds(2000).toNanos());
            gate.open();
            assertThat(client.answer().status()).isEqualTo(503);
            server.awaitEnded(2);
            assertThat(server.metric(series)).isEqualTo(1);
            assertThat(server.metric(
                            "vllm:request_success_total{engine=\"0\",finished_reason=\"abort\",model_name=\"sim\"}"))
                    .isEqualTo(2);
        }
    }

    @Test
    void errors_are_counted_by_status_from_zero() throws Exception {
        ServerOptions options = TestServer.options().withApiKey(ApiKey.of("secret"));
        try (TestServer server = new TestServer(TestServer.engineOptions(), SimOptions.defaults(), options)) {
            String key = "Authorization: Bearer secret\r\n";
            for (String series : List.of("400", "401", "429", "500", "503")) {
                assertThat(server.get("/metrics", key).body())
                        .contains("roseinfer:http_errors_total{engine=\"0\",model_name=\"sim\",status=\"" + series
                                + "\"} 0.0\n");
            }
            assertThat(server.complete(PLAIN).status()).isEqualTo(401);
            assertThat(server.get("/nothing", key).status()).isEqualTo(404);
            assertThat(server.complete(PLAIN, key).status()).isEqualTo(200);
            String text = server.get("/metrics", key).body();
            for (String series : List.of("401", "404")) {
                assertThat(text).contains("model_name=\"sim\",status=\"" + series + "\"} 1.0\n");
            }
            assertThat(text).doesNotContain("status=\"200\"");
        }
    }

    /** Clients may request any path: the labels of a metric are bounded. */
    @Test
    void unknown_paths_have_one_label() throws Exception {
        try (TestServer server = TestServer.start()) {
            for (int i = 0; i < 5; i++) {
                assertThat(server.get("/nothing" + i).status()).isEqualTo(404);
            }
            assertThat(server.get("/metrics").body()).doesNotContain("/nothing");
            assertThat(server.metric("http_requests_total{handler=\"none\",method=\"other\",status=\"4xx\"}"))
                    .isEqualTo(5);
        }
    }

    /** The device is paused until a time between the two limits. */
    @ParameterizedTest
    @CsvSource({"1000, 5000", "5000, 1000"})
    void shorter_timeout_of_server_and_client_ends_completions_and_chats(int serverSeconds, int clientSeconds)
            throws Exception {
        Gate gate = new Gate(0);
        CallLimits limits = CallLimits.NONE.withDuration(Optional.of(Duration.ofSeconds(serverSeconds)));
        ServerOptions options = TestServer.options()
                .withModel(ServedModel.named(TestServer.MODEL).withChat(TestServer.chat()))
                .withCallLimits(limits);
        try (TestServer server = new TestServer(TestServer.engineOptions(), gate.options(), options);
                RawClient completion = server.client();
                RawClient chat = server.client()) {
            String header = "X-Request-Timeout: " + clientSeconds + "\r\n";
            String messages = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"max_tokens\":20}";
            completion.send(RawClient.post("/v1/completions", PLAIN, header));
            gate.awaitReached();
            chat.send(RawClient.post("/v1/chat/completions", messages, header));
            while (server.engine.stats().requests().accepted() < 2) {
                Thread.onSpinWait();
            }
            server.aheadNanos.set(Duration.ofSeconds(2000).toNanos());
            gate.open();
            for (RawClient client : List.of(completion, chat)) {
                assertThat(client.answer().body()).containsAnyOf("\"deadline\"", "timed out before its first token");
            }
        }
    }
}
