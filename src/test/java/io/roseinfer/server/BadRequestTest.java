package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.server.http.RawClient;
import io.roseinfer.server.http.RawClient.Answer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Bad calls get an error that names the field, and never reach the engine. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BadRequestTest {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** The error of a response, with these additional numbers. */
    private static JsonNode error(Answer answer, int status, String... numbers) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        assertThat(answer.header("content-type")).contains("application/json");
        assertThat(answer.header("x-request-id")).isPresent();
        JsonNode error = TestServer.json(answer).get("error");
        List<String> names = new ArrayList<>(List.of("message", "type", "param", "code"));
        names.addAll(List.of(numbers));
        assertThat(error.propertyNames()).containsExactlyElementsOf(names);
        assertThat(error.get("code").intValue()).isEqualTo(status);
        assertThat(error.get("message").stringValue()).isNotBlank().doesNotContain("Exception", "\tat ");
        return error;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | the body is empty; it must be a JSON object",
                "' ' | the body is empty; it must be a JSON object",
                "null | the body is null; it must be a JSON object",
                "{\"n\":1,\"n\":2} | the body is invalid at line 1, column ",
                "{\"n\":1 | the body is not JSON at line 1, column "
            })
    void body_that_is_not_an_object_is_described(String body, String message) throws IOException {
        assertThat(error(server.complete(body), 400).get("message").stringValue())
                .startsWith(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "temperature | -1",
                "temperature | 101",
                "temperature | 1e999",
                "temperature | \"0.5\"",
                "temperature | true",
                "top_p | 0",
                "top_p | 1.1",
                "top_k | -2",
                "top_k | 0.5",
                "top_k | 3000000000",
                "min_p | -0.1",
                "min_p | 1",
                "presence_penalty | 2.5",
                "frequency_penalty | -2.5",
                "repetition_penalty | 0",
                "seed | 9223372036854775808",
                "seed | 0.5",
                "seed | \"1\"",
                "n | 0",
                "n | 65",
                "n | 1000000000",
                "n | 1e99",
                "best_of | 2",
                "logprobs | 21",
                "logprobs | 1000000",
                "logprobs | -1",
                "logprobs | true",
                "max_tokens | 0",
                "max_tokens | -1",
                "max_tokens | \"16\"",
                "max_tokens | 99999999999999999999",
                "stream | 1",
                "stream | \"true\"",
                "stream_options | {}",
                "echo | \"\"",
                "stop | [\"a\",\"b\",\"c\",\"d\",\"e\"]",
                "stop | \"\"",
                "stop | [\"a\",1]",
                "stop | 1",
                "priority | \"high\"",
                "logit_bias | {\"1\":200}",
                "suffix | \"x\"",
                "tools | [{}]",
                "response_format | {\"type\":\"xml\"}",
                "min_tokens | 17",
                "prompt_logprobs | 21",
                "prompt_logprobs | -1",
                "use_beam_search | true",
                "skip_special_tokens | false",
                "user | 1"
            })
    void invalid_value_is_rejected_with_the_field_name(String field, String value) throws IOException {
        JsonNode error = error(server.complete("{\"prompt\":\"a\",\"" + field + "\":" + value + "}"), 400);
        assertThat(error.get("param").stringValue()).isEqualTo(field);
        assertThat(error.get("message").stringValue()).contains(field.equals("stop") ? "stop" : field);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"\"",
                "[]",
                "[[]]",
                "[\"\"]",
                "1",
                "{}",
                "true",
                "[1,\"a\"]",
                "[-1]",
                "[2147483648]",
                "[1.5]",
                "[999999]",
                "\"\\ud800\"",
                "null"
            })
    void invalid_prompt_is_rejected(String prompt) throws IOException {
        JsonNode error = error(server.complete("{\"prompt\":" + prompt + "}"), 400);
        assertThat(error.get("param").stringValue()).isEqualTo("prompt");
    }

    @Test
    void neutral_values_of_unsupported_fields_are_accepted() throws IOException {
        String body =
                "{\"prompt\":\"a\",\"max_tokens\":1,\"suffix\":null,\"logit_bias\":{},\"tools\":[],\"min_tokens\":0,"
                        + "\"use_beam_search\":false,\"best_of\":1,\"top_k\":-1,\"user\":\"me\",\"skip_special_tokens\":true}";
        Answer answer = server.complete(body);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(answer.header("x-roseinfer-ignored")).isEmpty();
    }

    @Test
    void too_many_prompts_are_rejected_before_reading() throws IOException {
        String body = "{\"prompt\":[" + "\"a\",".repeat(9_999) + "\"a\"]}";
        JsonNode error = error(server.complete(body), 400);
        assertThat(error.get("message").stringValue()).contains("10000", "64");
    }

    @Test
    void prompt_as_long_as_the_context_is_rejected_with_both_sizes() throws IOException {
        int context = TestServer.SPEC.contextLength();
        String ids = "1,".repeat(context - 1) + "1";
        JsonNode error = error(server.complete("{\"prompt\":[" + ids + "]}"), 400, "n_prompt_tokens", "n_ctx");
        assertThat(error.get("param").stringValue()).isEqualTo("prompt");
        assertThat(error.get("message").stringValue()).contains(String.valueOf(context));
        assertThat(error.get("n_prompt_tokens").intValue()).isEqualTo(context);
        assertThat(error.get("n_ctx").intValue()).isEqualTo(context);
        String shorter = "1,".repeat(context - 2) + "1";
        assertThat(server.complete("{\"prompt\":[" + shorter + "]}").status()).isEqualTo(200);
    }

    @Test
    void prompt_larger_than_the_pool_is_rejected() throws IOException {
        try (TestServer small = new TestServer(
                TestServer.engineOptions().withKvBlocks(2), SimOptions.defaults(), TestServer.options())) {
            JsonNode error = error(small.complete("{\"prompt\":\"a\",\"max_tokens\":100}"), 400);
            assertThat(error.get("message").stringValue()).contains("KV blocks");
            assertThat(small.complete("{\"prompt\":\"a\",\"max_tokens\":10}").status())
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "{\"prompt\":\"a\"",
                "{\"prompt\":\"a\"} x",
                "{\"prompt\":\"a\",\"prompt\":\"b\"}",
                "{\"prompt\":\"a\",\"temperature\":NaN}",
                "{'prompt':'a'}",
                "[]",
                "\"a\"",
                "null"
            })
    void non_object_body_is_rejected(String body) throws IOException {
        assertThat(error(server.complete(body), 400).get("type").stringValue()).isEqualTo("BadRequestError");
    }

    @Test
    void malformed_body_is_rejected_with_the_position() throws IOException {
        JsonNode error = error(server.complete("{\n  \"prompt\": oops }"), 400);
        assertThat(error.get("message").stringValue()).contains("line 2");
    }

    @Test
    void deep_nesting_is_rejected() throws IOException {
        JsonNode error = error(server.complete("{\"prompt\":" + "[".repeat(10_000) + "]".repeat(10_000) + "}"), 400);
        assertThat(error.get("message").stringValue())
                .startsWith("the body is invalid: ")
                .contains("nesting depth");
    }

    @Test
    void invalid_utf_8_is_rejected() throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes("POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 14\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
        request.writeBytes("{\"prompt\":\"".getBytes(StandardCharsets.US_ASCII));
        request.write(0xff);
        request.writeBytes("\"}".getBytes(StandardCharsets.US_ASCII));
        try (RawClient client = server.client()) {
            JsonNode unused = error(client.send(request.toByteArray()).answer(), 400);
        }
    }

    @Test
    void another_model_is_not_found() throws IOException {
        JsonNode error = error(server.complete("{\"model\":\"x\\r\\ny\",\"prompt\":\"a\"}"), 404);
        assertThat(error.get("param").stringValue()).isEqualTo("model");
        assertThat(error.get("message").stringValue())
                .contains("x\\u000d\\u000ay")
                .contains(TestServer.MODEL);
        assertThat(server.complete("{\"model\":\"\",\"prompt\":\"a\",\"max_tokens\":1}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void wrong_method_is_answered_with_the_right_one() throws IOException {
        Answer answer = server.get("/v1/completions");
        assertThat(error(answer, 405).get("message").stringValue()).contains("POST");
        assertThat(answer.header("allow")).contains("POST");
        assertThat(server.post("/health", "").header("allow")).contains("GET, HEAD");
        try (RawClient client = server.client()) {
            assertThat(client.call("OPTIONS /v1/models HTTP/1.1\r\nHost: a\r\nOrigin: http://x\r\n\r\n")
                            .headers())
                    .doesNotContainKey("access-control-allow-origin");
        }
        assertThat(error(server.get("/v2"), 404).get("message").stringValue()).contains("/v2");
    }

    @Test
    void chat_without_a_template_is_rejected() throws IOException {
        Answer answer =
                server.post("/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}");
        assertThat(error(answer, 400).get("message").stringValue()).contains("no chat template", "/v1/completions");
    }

    @Test
    void requests_rejected_by_the_server_are_not_counted_by_the_engine() throws IOException {
        try (TestServer fresh = TestServer.start()) {
            for (String body : new String[] {"{", "{\"prompt\":1}", "{\"prompt\":\"a\",\"n\":0}"}) {
                assertThat(fresh.complete(body).status()).isEqualTo(400);
            }
            assertThat(fresh.engine.stats().requests().accepted()).isZero();
            assertThat(fresh.engine.stats().requests().rejected()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Authorization: secret\r\n",
                "Authorization: Bearer\r\n",
                "Authorization: Bearer wrong\r\n",
                "Authorization: Bearer secret2\r\n",
                "Authorization: Basic secret\r\n",
                "Authorization: Bearersecret\r\n"
            })
    void without_the_key_only_the_health_is_served(String header) throws IOException {
        try (TestServer locked = new TestServer(
                TestServer.engineOptions(),
                SimOptions.defaults(),
                TestServer.options().withApiKey(ApiKey.of("secret")))) {
            for (String path : new String[] {"/v1/models", "/metrics", "/version", "/nothing"}) {
                JsonNode error = error(locked.get(path, header), 401);
                assertThat(error.get("message").stringValue()).doesNotContain("secret");
            }
            JsonNode unused = error(locked.complete("{\"prompt\":\"a\"}", header), 401);
            assertThat(locked.get("/health", header).status()).isEqualTo(200);
            assertThat(locked.get("/v1/models", "Authorization: Bearer secret\r\n")
                            .status())
                    .isEqualTo(200);
            // A line is written after its response; the last one is present once the server has closed.
            locked.server.close();
            assertThat(locked.log).noneMatch(line -> line.contains("secret"));
        }
    }

    @Test
    void log_entry_is_one_line_without_the_prompt() throws IOException {
        try (TestServer fresh = TestServer.start()) {
            assertThat(fresh.complete("{\"prompt\":\"my darkest thoughts\",\"max_tokens\":2}", "X-Request-Id: a\"b\r\n")
                            .status())
                    .isEqualTo(200);
            fresh.server.close();
            assertThat(fresh.log).hasSize(1);
            JsonNode line = TestServer.json(fresh.log.getFirst());
            assertThat(line.get("request_id").stringValue()).isEqualTo("a\"b");
            assertThat(line.get("path").stringValue()).isEqualTo("/v1/completions");
            assertThat(line.get("status").intValue()).isEqualTo(200);
            assertThat(line.get("completion_tokens").intValue()).isEqualTo(2);
            assertThat(fresh.log.getFirst()).doesNotContain("dark", "\n");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"prompt\":NaN}",
                "{\"prompt\":[1,Infinity]}",
                "{\"prompt\":\"a\",\"prompt\":\"b\"}",
                "{\"prompt\":SECRETWORD}",
                "{\"prompt\":\"SECRETWORD",
                "{\"prompt\":\"a\",\"max_tokens\":1e400}",
                "[[[[",
                "NESTED"
            })
    void errors_and_log_lines_have_no_text_of_libraries_or_prompts(String body) throws IOException {
        Answer answer = server.complete(body.replace("NESTED", "[".repeat(5000)));
        String message = error(answer, 400).get("message").stringValue();
        assertThat(message).doesNotContain("SECRETWORD", "Feature", "StreamRead", "`", "\\", "Infinity\"");
        assertThat(server.log).noneMatch(line -> line.contains("SECRETWORD"));
    }
}
