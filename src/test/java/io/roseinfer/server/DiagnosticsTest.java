package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Data about a request in addition to the completion: an id, stages, requests in flight. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DiagnosticsTest {
    private static final List<String> METRICS = List.of(
            "queue_time_ms", "time_to_first_token_ms", "generation_time_ms", "mean_itl_ms", "tokens_per_second");
    private static final List<String> TIMINGS = List.of(
            "cache_n",
            "prompt_n",
            "prompt_ms",
            "prompt_per_token_ms",
            "prompt_per_second",
            "predicted_n",
            "predicted_ms",
            "predicted_per_token_ms",
            "predicted_per_second");

    private static String body(String more) {
        return "{\"prompt\":[1,2,3],\"max_tokens\":4,\"ignore_eos\":true" + more + "}";
    }

    /** A server whose clock advances by a second per step. */
    private static TestServer stepping() {
        AtomicReference<TestServer> late = new AtomicReference<>();
        TestServer server = TestServer.start(SimOptions.defaults().withOnStep(step -> {
            TestServer there = late.get();
            if (there != null) {
                there.aheadNanos.addAndGet(Duration.ofSeconds(1).toNanos());
            }
        }));
        late.set(server);
        return server;
    }

    private static void assertStages(JsonNode answer) {
        JsonNode metrics = answer.get("metrics");
        assertThat(metrics.propertyNames()).containsExactlyElementsOf(METRICS);
        double prefill = metrics.get("time_to_first_token_ms").doubleValue();
        double decode = metrics.get("generation_time_ms").doubleValue();
        assertThat(metrics.get("queue_time_ms").doubleValue()).isNotNegative();
        assertThat(prefill).isGreaterThanOrEqualTo(1000);
        assertThat(decode).isGreaterThanOrEqualTo(3000);
        assertThat(metrics.get("mean_itl_ms").doubleValue()).isEqualTo(decode / 3);
        assertThat(metrics.get("tokens_per_second").doubleValue()).isEqualTo(4 / (prefill + decode) * 1e3);
        JsonNode timings = answer.get("timings");
        assertThat(timings.propertyNames()).containsExactlyElementsOf(TIMINGS);
        assertThat(timings.get("cache_n").intValue()).isZero();
        assertThat(timings.get("prompt_n").intValue()).isEqualTo(3);
        assertThat(timings.get("prompt_ms").doubleValue()).isEqualTo(prefill);
        assertThat(timings.get("prompt_per_token_ms").doubleValue()).isEqualTo(prefill / 3);
        assertThat(timings.get("predicted_n").intValue()).isEqualTo(4);
        assertThat(timings.get("predicted_ms").doubleValue()).isEqualTo(decode);
        assertThat(timings.get("predicted_per_second").doubleValue()).isEqualTo(3 / decode * 1e3);
    }

    @Test
    void complete_response_has_the_stages_of_its_completion() throws IOException {
        try (TestServer server = stepping()) {
            assertStages(TestServer.json(server.complete(body(""))));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {",\"stream\":true", ",\"stream\":true,\"stream_options\":{\"include_usage\":true}"})
    void only_the_last_event_has_the_stages(String more) throws IOException {
        try (TestServer server = stepping()) {
            List<String> events = TestServer.events(server.complete(body(more)).body());
            int last = events.size() - 2;
            assertStages(TestServer.json(events.get(last)));
            assertThat(events.subList(0, last))
                    .isNotEmpty()
                    .allSatisfy(event -> assertThat(event).doesNotContain("metrics", "timings"));
        }
    }

    @Test
    void several_completions_have_no_stages() throws IOException {
        try (TestServer server = TestServer.start()) {
            assertThat(server.complete(body(",\"n\":2")).body()).doesNotContain("metrics", "timings");
            assertThat(server.complete(body(",\"n\":2,\"stream\":true,\"stream_options\":{\"include_usage\":true}"))
                            .body())
                    .doesNotContain("metrics", "timings");
        }
    }

    @Test
    void completion_of_one_token_has_finite_stages() throws IOException {
        try (TestServer server = TestServer.start()) {
            JsonNode answer = TestServer.json(server.complete("{\"prompt\":[1],\"max_tokens\":1}"));
            for (String name : METRICS) {
                assertThat(answer.get("metrics").get(name).doubleValue())
                        .as(name)
                        .isFinite()
                        .isNotNegative();
            }
            assertThat(answer.get("metrics").get("mean_itl_ms").doubleValue()).isZero();
        }
    }

    private static JsonNode requests(TestServer server) throws IOException {
        return TestServer.json(server.get("/debug/requests")).get("data");
    }

    @Test
    void chat_in_flight_is_listed_and_timed_like_a_completion() throws Exception {
        Gate gate = new Gate(2);
        try (TestServer server = TestServer.startChat(gate.options());
                RawClient client = server.client()) {
            String body = "{\"messages\":[{\"role\":\"user\",\"content\":\"a secret\"}],\"max_completion_tokens\":9,"
                    + "\"ignore_eos\":true}";
            client.send(RawClient.post("/v1/chat/completions", body, "X-Request-Id: chat\r\n"));
            gate.awaitReached();
            JsonNode one = requests(server).get(0);
            assertThat(one.get("request_id").stringValue()).isEqualTo("chat");
            assertThat(one.get("max_tokens").intValue()).isEqualTo(9);
            assertThat(one.get("state").stringValue()).isEqualTo("running");
            assertThat(one.get("age_ms").doubleValue()).isPositive();
            assertThat(one.toString()).doesNotContain("secret");
            gate.open();
            JsonNode answer = TestServer.json(client.answer());
            assertThat(answer.get("timings").get("predicted_n").intValue()).isEqualTo(9);
            assertThat(answer.get("metrics").propertyNames()).contains("queue_time_ms", "time_to_first_token_ms");
            assertThat(requests(server)).isEmpty();
        }
    }

    @Test
    void requests_in_flight_are_listed_without_their_text_and_go_when_they_end() throws Exception {
        Gate gate = new Gate(2);
        try (TestServer server = TestServer.start(gate.options());
                RawClient first = server.client();
                RawClient second = server.client()) {
            String prompt = "\"prompt\":\"a secret\",\"max_tokens\":9,\"ignore_eos\":true,";
            first.send(RawClient.post("/v1/completions", "{" + prompt + "\"stream\":true}", "X-Request-Id: one\r\n"));
            gate.awaitReached();
            second.send(RawClient.post(
                    "/v1/completions", "{" + prompt + "\"priority\":3,\"n\":2}", "X-Request-Id: two\r\n"));
            while (server.engine.stats().requests().accepted() < 3) {
                Thread.onSpinWait();
            }
            JsonNode all = requests(server);
            assertThat(all).hasSize(3);
            assertThat(all)
                    .extracting(each -> each.get("request_id").stringValue())
                    .containsExactly("one", "two", "two");
            assertThat(all)
                    .extracting(each -> each.get("state").stringValue())
                    .containsExactly("running", "waiting", "waiting");
            assertThat(all).extracting(each -> each.get("index").intValue()).containsExactly(0, 0, 1);
            assertThat(all).extracting(each -> each.get("priority").intValue()).containsExactly(0, 3, 3);
            assertThat(all)
                    .extracting(each -> each.get("stream").booleanValue())
                    .containsExactly(true, false, false);
            JsonNode running = all.get(0);
            assertThat(running.get("prompt_tokens").intValue()).isEqualTo(TestServer.WORDS.encode("a secret").length);
            assertThat(running.get("max_tokens").intValue()).isEqualTo(9);
            assertThat(running.get("generated_tokens").intValue()).isBetween(1, 2);
            assertThat(running.get("age_ms").doubleValue()).isNotNegative();
            assertThat(all.toString()).doesNotContain("secret");
            gate.open();
            assertThat(first.answer().status()).isEqualTo(200);
            assertThat(second.answer().status()).isEqualTo(200);
            while (!requests(server).isEmpty()) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void disconnected_client_has_no_listed_requests() throws Exception {
        Gate gate = new Gate(2);
        try (TestServer server = TestServer.start(gate.options())) {
            try (RawClient client = server.client()) {
                client.send(RawClient.post("/v1/completions", body("")));
                gate.awaitReached();
                assertThat(requests(server)).hasSize(1);
            }
            gate.open();
            while (!requests(server).isEmpty()) {
                Thread.onSpinWait();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /health HTTP/1.1\r\nHost: a\r\n\r\n",
                "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n",
                "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n",
                "POST /health HTTP/1.1\r\nHost: a\r\n\r\n",
                "POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n{",
                "no request at all\r\n\r\n"
            })
    void every_answer_has_an_id(String request) throws IOException {
        try (TestServer server = TestServer.start();
                RawClient client = server.client()) {
            assertThat(client.call(request).header("x-request-id"))
                    .hasValueSatisfying(id -> assertThat(id).matches("[0-9a-f]{32}"));
        }
    }

    @Test
    void request_id_of_the_body_is_used_unless_a_header_has_one() throws IOException {
        try (TestServer server = TestServer.start()) {
            Answer named = server.complete(body(",\"request_id\":\"mine\""));
            assertThat(named.header("x-request-id")).contains("mine");
            assertThat(TestServer.json(named).get("id").stringValue()).isEqualTo("cmpl-mine");
            Answer twice = server.complete(body(",\"request_id\":\"mine\""), "X-Request-Id: header\r\n");
            assertThat(twice.header("x-request-id")).contains("header");
            assertThat(TestServer.json(twice).get("id").stringValue()).isEqualTo("cmpl-header");
            Answer split = server.complete(body(",\"request_id\":\"a\\nb\""));
            assertThat(split.status()).isEqualTo(400);
            assertThat(TestServer.json(split).get("error").get("param").stringValue())
                    .isEqualTo("request_id");
        }
    }

    @Test
    void connection_serves_streams_and_complete_responses_sequentially_and_pipelined() throws IOException {
        try (TestServer server = TestServer.start();
                RawClient client = server.client()) {
            for (int i = 0; i < 3; i++) {
                String stream =
                        RawClient.post("/v1/completions", body(",\"stream\":true"), "X-Request-Id: s" + i + "\r\n");
                String whole = RawClient.post("/v1/completions", body(""), "X-Request-Id: w" + i + "\r\n");
                client.send(stream + whole + RawClient.get("/health"));
                Answer first = client.answer();
                assertThat(first.header("x-request-id")).contains("s" + i);
                assertThat(first.body()).endsWith("data: [DONE]\n\n");
                assertThat(client.answer().header("x-request-id")).contains("w" + i);
                assertThat(client.answer().status()).isEqualTo(200);
            }
            assertThat(server.server.connections()).isEqualTo(1);
        }
    }
}
