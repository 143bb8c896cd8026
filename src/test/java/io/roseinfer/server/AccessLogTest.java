package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import java.io.IOException;
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
                .matches(
                        "time=2027-01-15T08:00:00Z client=127.0.0.1 request_id=\"a=b\" method=POST"
                                + " path=/v1/completions status=200 ms=[0-9.E-]+"
                                + " user=\"Ann \\\\\"A\\\\\" \\\\\\\\\\\\u000a\" prompt_tokens=1 completion_tokens=2 finish_reason=length");
    }

    @Test
    void text_line_quotes_an_error_and_omits_empty_values() throws IOException {
        assertThat(line(AccessLog.Format.TEXT, "{\"prompt\":[1],\"n\":0}"))
                .contains(" status=400 ", " error=\"n ")
                .endsWith("\"")
                .doesNotContain("user=", "finish_reason", "=  ", "= ");
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
