package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.server.http.HttpLimits;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Lines of the access log in both formats. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AccessLogTest {
    /** Returns the line of one completion; a line is written after its response, and at the latest before the close. */
    private static String line(AccessLog.Format format, String body) throws IOException {
        try (TestServer server = TestServer.logging(format, SimOptions.defaults())) {
            int unused = server.complete(body, "X-Request-Id: a=b\r\n").status();
            server.server.close();
            assertThat(server.log).hasSize(1);
            return server.log.getFirst();
        }
    }

    @Test
    void text_line_is_logfmt_with_client_and_user() throws IOException {
        String body = "{\"prompt\":[1],\"max_tokens\":2,\"ignore_eos\":true,\"user\":\"Ann \\\"A\\\" \\\\\\n\"}";
        assertThat(line(AccessLog.Format.TEXT, body))
                .matches("time=2027-01-15T08:00:00Z client=127.0.0.1 request_id=\"a=b\" method=POST"
                        + " path=/v1/completions status=200 ms=[0-9.E-]+"
                        + " user=\"Ann \\\\\"A\\\\\" \\\\\\\\\\\\u000a\" prompt_tokens=1 cached_tokens=0 completion_tokens=2"
                        + " finish_reason=length queue_ms=[0-9.E-]+ ttft_ms=[0-9.E-]+ decode_ms=[0-9.E-]+ engine=0");
    }

    @Test
    void probes_have_a_line_only_if_they_fail() throws IOException {
        try (TestServer server = TestServer.logging(AccessLog.Format.JSON, SimOptions.defaults())) {
            for (String path : List.of("/health", "/ping", "/metrics", "/version")) {
                assertThat(server.get(path).status()).isEqualTo(200);
            }
            assertThat(server.post("/health", "").status()).isEqualTo(405);
            assertThat(server.log).hasSize(2);
            assertThat(server.log.getFirst()).contains("/version");
            assertThat(server.log.getLast()).contains("/health", "405");
        }
    }

    @Test
    void text_line_quotes_an_error_and_omits_empty_values() throws IOException {
        assertThat(line(AccessLog.Format.TEXT, "{\"prompt\":[1],\"n\":0}"))
                .contains(" status=400 ", " error=\"n ")
                .endsWith("\"")
                .doesNotContain("user=", "finish_reason", "=  ", "= ");
    }

    @Test
    void times_of_a_line_are_parts_of_its_duration_in_order() throws IOException {
        JsonNode line = TestServer.json(line(AccessLog.Format.JSON, "{\"prompt\":[1],\"max_tokens\":9,\"n\":3}"));
        double queue = line.get("queue_ms").doubleValue();
        double ttft = line.get("ttft_ms").doubleValue();
        assertThat(queue).isBetween(0.0, ttft);
        assertThat(ttft).isLessThan(line.get("ms").doubleValue());
        assertThat(line.get("decode_ms").doubleValue())
                .isBetween(0.0, line.get("ms").doubleValue());
    }

    @Test
    void time_of_a_late_request_counts_from_its_first_byte() throws IOException {
        Duration limit = Duration.ofMillis(100);
        HttpLimits limits = HttpLimits.defaults().withTimeouts(limit, limit, limit);
        try (TestServer server = new TestServer(
                        TestServer.engineOptions(),
                        SimOptions.defaults(),
                        TestServer.options().withHttp(limits));
                RawClient client = server.client()) {
            Answer late = client.call("GET / HT");
            assertThat(late.status()).isEqualTo(408);
            assertThat(TestServer.json(late).get("error").get("type").stringValue())
                    .isEqualTo("RequestTimeoutError");
            server.server.close();
            assertThat(server.log)
                    .singleElement()
                    .satisfies(
                            line -> assertThat(TestServer.json(line).get("ms").doubleValue())
                                    .isGreaterThanOrEqualTo(100.0));
        }
    }

    @Test
    void line_says_what_stopped_a_completion_without_its_text() throws IOException {
        String body = "{\"prompt\":[1],\"max_tokens\":9,\"ignore_eos\":true,%s}";
        JsonNode token = TestServer.json(
                line(AccessLog.Format.JSON, body.formatted("\"allowed_token_ids\":[40],\"stop_token_ids\":[40]")));
        assertThat(token.get("stop_reason").stringValue()).isEqualTo("stop_token_ids");
        JsonNode text = TestServer.json(line(
                AccessLog.Format.JSON,
                body.formatted(
                        "\"allowed_token_ids\":[40],\"stop\":[\"" + TestServer.WORDS.decode(new int[] {40}) + "\"]")));
        assertThat(text.get("stop_reason").stringValue()).isEqualTo("stop");
        assertThat(text.get("finish_reason").stringValue()).isEqualTo("stop");
    }

    @Test
    void json_line_has_client_and_a_bounded_user() throws IOException {
        JsonNode line = TestServer.json(line(
                AccessLog.Format.JSON,
                "{\"prompt\":[1],\"max_tokens\":1,\"user\":\"" + "x".repeat(127) + "😀" + "y".repeat(9) + "\"}"));
        assertThat(line.get("client").stringValue()).isEqualTo("127.0.0.1");
        assertThat(line.get("user").stringValue()).isEqualTo("x".repeat(127) + "…");
        JsonNode anonymous = TestServer.json(line(AccessLog.Format.JSON, "{\"prompt\":[1],\"max_tokens\":1}"));
        assertThat(anonymous.has("user")).isFalse();
    }
}
