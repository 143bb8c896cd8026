package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.roseinfer.batch.BatchLine;
import io.roseinfer.batch.BatchModel;
import io.roseinfer.engine.Completion;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Compares a line's response in a batch with the server's response to the same body. */
class BatchResponseTest {
    private static final long SEED = 5;

    private static TestServer server;
    private static BatchModel batch;

    @BeforeAll
    static void startServer() {
        server = TestServer.startChat();
        batch = new BatchModel(
                ServedModel.named(TestServer.MODEL).withChat(TestServer.chat()),
                TestServer.SPEC,
                Optional.of(TestServer.WORDS),
                server.engine.maxRequestTokens(),
                SEED,
                TestServer.NOW);
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    private static BatchLine.Request line(String url, String body) {
        String line = "{\"custom_id\": \"a\", \"method\": \"POST\", \"url\": \"" + url + "\", \"body\": " + body + "}";
        return (BatchLine.Request) BatchLine.parse(line.getBytes(StandardCharsets.UTF_8), 1);
    }

    private static JsonNode response(BatchLine.Request line) {
        CompletionCall call = batch.call(line);
        List<Completion> done = IntStream.range(0, call.choices())
                .mapToObj(choice -> server.engine.generate(call.request(choice)))
                .toList();
        return TestServer.json(new String(batch.response(line, call, done), StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "/v1/completions | {\"prompt\": \"Once upon\", \"max_tokens\": 5, \"temperature\": 0}",
                "/v1/completions | {\"model\": \"sim\", \"prompt\": [\"Once\", \"a\"], \"n\": 2, \"seed\": 3, \"logprobs\": 2, \"max_tokens\": 4}",
                "/v1/completions | {\"prompt\": [5, 6], \"seed\": 3, \"echo\": true, \"return_token_ids\": true}",
                "/v1/completions | {\"prompt\": [[5, 6], [7]], \"echo\": true, \"logprobs\": 2, \"max_tokens\": 0}",
                "/v1/chat/completions | {\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"max_tokens\": 4, \"seed\": 9, \"prompt_logprobs\": 1}",
                "/v1/chat/completions | {\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"max_tokens\": 0, \"seed\": 9, \"prompt_logprobs\": 1}",
                "/v1/chat/completions | {\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], \"max_tokens\": 4, \"seed\": 9, \"logprobs\": true}"
            })
    void response_equals_the_servers_except_for_id_and_times(String url, String body) throws IOException {
        JsonNode mine = response(line(url, body));
        ObjectNode whole = (ObjectNode) TestServer.json(server.post(url, body));
        whole.remove(List.of("metrics", "timings"));
        assertThat(mine.get("error").isNull()).isTrue();
        JsonNode response = mine.get("response");
        assertThat(response.get("status_code").intValue()).isEqualTo(200);
        String id = response.get("request_id").stringValue();
        assertThat(mine.get("id").stringValue()).isEqualTo("batch_req_" + id);
        whole.put("id", (url.contains("chat") ? "chatcmpl-" : "cmpl-") + id);
        assertThat(response.get("body")).isEqualTo(whole);
    }

    @Test
    void response_names_what_has_no_effect() {
        JsonNode response = response(line(
                        "/v1/completions",
                        "{\"prompt\": \"a\", \"max_token\": 1, \"guided_json\": {\"const\": 1, \"nullable\": true}}"))
                .get("response");
        assertThat(response.get("ignored").toString()).isEqualTo("[\"max_token\",\"guided_json/nullable\"]");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"prompt\": \"\"}",
                "{\"prompt\": \"a\", \"temperature\": -1}",
                "{\"prompt\": \"a\", \"model\": \"other\"}",
                "{\"prompt\": [123456789]}"
            })
    void batch_rejects_a_body_like_the_server(String body) throws IOException {
        BatchLine.Request line = line("/v1/completions", body);
        ApiError error = catchThrowableOfType(ApiError.class, () -> batch.call(line));
        JsonNode mine = TestServer.json(new String(BatchModel.refusal(line, error), StandardCharsets.UTF_8));
        Answer theirs = server.complete(body);
        assertThat(mine.get("response").get("status_code").intValue()).isEqualTo(theirs.status());
        assertThat(mine.get("response").get("body")).isEqualTo(TestServer.json(theirs));
        assertThat(mine.get("error")).isEqualTo(TestServer.json(theirs).get("error"));
    }

    @Test
    void stream_is_rejected() {
        BatchLine.Request line = line("/v1/completions", "{\"prompt\": \"a\", \"stream\": true}");
        assertThat(catchThrowableOfType(ApiError.class, () -> batch.call(line))).hasMessageContaining("stream is true");
    }

    @Test
    void request_without_a_seed_gets_one_from_its_key() {
        BatchLine.Request without = line("/v1/completions", "{\"prompt\": \"a\"}");
        assertThat(batch.call(without).request().seed()).hasValue(without.key().seed(SEED));
        assertThat(batch.call(line("/v1/completions", "{\"prompt\": \"a\", \"seed\": 8}"))
                        .request()
                        .seed())
                .hasValue(8);
    }
}
