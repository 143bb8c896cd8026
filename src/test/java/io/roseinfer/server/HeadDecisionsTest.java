package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.server.http.HttpLimits;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Decisions of the server before it has a body, in responses, log and metrics. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeadDecisionsTest {
    private static final String HALF = "Content-Length: 4000000\r\n\r\n" + "x".repeat(100_000);

    private static TestServer withKey() {
        return new TestServer(
                TestServer.engineOptions(),
                SimOptions.defaults(),
                TestServer.options()
                        .withApiKey(ApiKey.of("secret"))
                        .withHttp(HttpLimits.defaults().withHeldBytes(8 << 20)));
    }

    @ParameterizedTest
    @CsvSource({
        "POST /v1/completions, no, 401",
        "POST /tokenize, no, 401",
        "POST /nothing, no, 401",
        "POST /nothing, yes, 404",
        "POST /v1/models, yes, 405",
        "PUT /v1/completions, yes, 405"
    })
    void incomplete_upload_is_rejected_by_key_path_or_method(String line, String key, int status) throws IOException {
        try (TestServer server = withKey();
                RawClient client = server.client()) {
            String authorization = key.equals("yes") ? "Authorization: Bearer secret\r\n" : "";
            Answer answer = client.call(line + " HTTP/1.1\r\nHost: a\r\n" + authorization + HALF);
            assertThat(answer.status()).isEqualTo(status);
        }
    }

    /** Incomplete uploads of clients without the key, more than the memory for bodies, do not block others. */
    @Test
    void uploads_without_the_key_take_no_memory() throws IOException {
        List<RawClient> uploads = new ArrayList<>();
        try (TestServer server = withKey()) {
            String half = "POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n"
                    + "x".repeat(3_900_000);
            for (int i = 0; i < 8; i++) {
                uploads.add(server.client().send(half));
            }
            for (RawClient upload : uploads) {
                assertThat(upload.answer().status()).isEqualTo(401);
            }
            String body =
                    "{\"prompt\":\"" + "x".repeat(1_000_000) + "\",\"truncate_prompt_tokens\":2,\"max_tokens\":1}";
            assertThat(server.complete(body, "Authorization: Bearer secret\r\n").status())
                    .isEqualTo(200);
        } finally {
            for (RawClient upload : uploads) {
                upload.close();
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET /health HTTP/1.1 | 400 | /health | GET | Host",
                "hello | 400 | none | other | HTTP",
                "POST /tokenize HTTP/1.1~Host: a~Content-Length: 9999999 | 413 | /tokenize | POST | 4194304",
                "POST /tokenize HTTP/1.1~Host: a~Content-Length: 2~Content-Encoding: gzip | 400 | /tokenize | POST | gzip",
                "POST /health HTTP/1.1~Host: a | 405 | /health | other | GET, HEAD",
                "GET /secret/x HTTP/1.1~Host: a | 404 | none | other | /secret/x"
            })
    void every_rejection_is_counted_and_logged_with_its_reason(
            String head, int status, String handler, String method, String reason) throws IOException {
        try (TestServer server = TestServer.start();
                RawClient client = server.client()) {
            Answer answer = client.call(head.replace("~", "\r\n") + "\r\n\r\n");
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.header("date")).contains("Fri, 15 Jan 2027 08:00:00 GMT");
            assertThat(server.log).hasSize(1);
            JsonNode line = TestServer.json(server.log.getFirst());
            assertThat(line.get("status").intValue()).isEqualTo(status);
            assertThat(line.get("error").stringValue()).contains(reason);
            assertThat(answer.body()).contains(line.get("error").toString());
            assertThat(server.metric("http_requests_total{handler=\"" + handler + "\",method=\"" + method
                            + "\",status=\"4xx\"}"))
                    .isEqualTo(1);
        }
    }

    @Test
    void model_card_is_found_only_by_its_name() throws IOException {
        try (TestServer server = TestServer.start()) {
            JsonNode list = TestServer.json(server.get("/v1/models"));
            assertThat(TestServer.json(server.get("/v1/models/sim")))
                    .isEqualTo(list.get("data").get(0));
            assertThat(TestServer.json(server.get("/v1/models/s%69m")).get("id").stringValue())
                    .isEqualTo("sim");
            for (String other : List.of("", "sim2", "a%2Fb", "%", "%zz")) {
                assertThat(server.get("/v1/models/" + other).status()).as(other).isEqualTo(404);
            }
        }
    }

    @Test
    void call_with_more_completions_than_requests_in_flight_is_bad_input() throws IOException {
        try (TestServer server = new TestServer(
                TestServer.engineOptions().withMaxInflightRequests(4), SimOptions.defaults(), TestServer.options())) {
            assertThat(server.complete("{\"prompt\":\"a\",\"n\":5}").status()).isEqualTo(400);
            assertThat(server.complete("{\"prompt\":[[1],[2],[3],[4],[5]]}").status())
                    .isEqualTo(400);
            assertThat(server.complete("{\"prompt\":\"a\",\"n\":4,\"max_tokens\":1}")
                            .status())
                    .isEqualTo(200);
        }
    }
}
