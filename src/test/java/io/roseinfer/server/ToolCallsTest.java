package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.StrictJson;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient.Answer;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.reply.ReasoningFormat;
import io.roseinfer.tokenizer.chat.reply.ReplyFormats;
import io.roseinfer.tokenizer.chat.reply.ToolCallFormat;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Tool calls and reasoning in responses and streams. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ToolCallsTest {
    private static final String PATH = "/v1/chat/completions";
    private static final String CALL =
            "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"place\": \"Bern\"}}\n</tool_call>";
    private static final String SECOND = "<tool_call>\n{\"name\": \"clock\", \"arguments\": {}}\n</tool_call>";

    private static ChatTemplate template(String name) throws IOException {
        return ChatTemplate.parse(
                Files.readString(Path.of("src/test/resources/chat/templates/" + name + ".jinja")),
                name,
                Map.of("bos_token", "", "eos_token", "<|endoftext|>"));
    }

    static ServedModel model(String template) throws IOException {
        return ServedModel.named(TestServer.MODEL).withChat(Optional.of(template(template)));
    }

    /** Starts a server whose model reasons and calls tools, and gives these replies. */
    static TestServer start(String... replies) throws IOException {
        return TestServer.scripted(model("qwen3"), TestServer.WORDS, replies);
    }

    /** Starts a server like {@link #start} with a template of few words, for long tools. */
    static TestServer startShort(String... replies) {
        String source = """
                {%- for t in tools %}{{ t.function.name }}
                {% endfor %}
                {%- for m in messages %}{{ m.role ~ ': ' ~ m.content }}
                {%- for c in m.tool_calls %}
                <tool_call>
                {"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
                </tool_call>
                {%- endfor %}
                {% endfor %}""";
        ChatTemplate template = ChatTemplate.parse(source, "short", Map.of());
        return TestServer.scripted(
                ServedModel.named(TestServer.MODEL).withChat(Optional.of(template)), TestServer.WORDS, replies);
    }

    private static ObjectNode body() {
        ObjectNode body = StrictJson.mapper().createObjectNode();
        body.putArray("messages").addObject().put("role", "user").put("content", "Hi");
        ObjectNode function =
                body.putArray("tools").addObject().put("type", "function").putObject("function");
        function.put("name", "get_weather").put("description", "The weather");
        function.putObject("parameters")
                .put("type", "object")
                .putObject("properties")
                .putObject("place")
                .put("type", "string");
        return body;
    }

    private static JsonNode choice(TestServer server, ObjectNode body) throws IOException {
        Answer answer = server.post(PATH, body.toString());
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return TestServer.json(answer).get("choices").get(0);
    }

    private static List<JsonNode> chunks(TestServer server, ObjectNode body) throws IOException {
        List<String> events = TestServer.events(
                server.post(PATH, body.put("stream", true).toString()).body());
        assertThat(events.getLast()).isEqualTo("[DONE]");
        return events.subList(0, events.size() - 1).stream()
                .map(event -> TestServer.json(event).get("choices").get(0))
                .toList();
    }

    /** The message that a stream's deltas make, as a client joins them. */
    static ObjectNode joined(List<JsonNode> chunks) {
        StringBuilder content = new StringBuilder();
        StringBuilder reasoning = new StringBuilder();
        List<ObjectNode> calls = new ArrayList<>();
        for (JsonNode chunk : chunks) {
            JsonNode delta = chunk.get("delta");
            content.append(delta.path("content").asString(""));
            reasoning.append(delta.path("reasoning_content").asString(""));
            for (JsonNode call : delta.path("tool_calls")) {
                if (call.has("id")) {
                    assertThat(call.get("index").intValue()).isEqualTo(calls.size());
                    calls.add(((ObjectNode) call.deepCopy()).without("index"));
                } else {
                    ObjectNode function =
                            (ObjectNode) calls.get(call.get("index").intValue()).get("function");
                    String more = call.get("function").get("arguments").stringValue();
                    function.put("arguments", function.get("arguments").stringValue() + more);
                }
            }
        }
        ObjectNode message = StrictJson.mapper().createObjectNode().put("role", "assistant");
        message.put("content", content.isEmpty() ? null : content.toString()).putNull("refusal");
        if (!reasoning.isEmpty()) {
            message.put("reasoning_content", reasoning.toString());
        }
        if (!calls.isEmpty()) {
            message.putArray("tool_calls").addAll(calls);
        }
        return message;
    }

    @Test
    void response_has_reasoning_content_and_calls() throws IOException {
        try (TestServer server = start("<think>\nHm.\n</think>\n\nLet me look.\n" + CALL + "\n" + SECOND)) {
            JsonNode choice = choice(server, body());
            JsonNode message = choice.get("message");
            assertThat(message.get("reasoning_content").stringValue()).isEqualTo("Hm.");
            assertThat(message.get("content").stringValue()).isEqualTo("Let me look.");
            JsonNode calls = message.get("tool_calls");
            assertThat(calls).hasSize(2);
            assertThat(calls.get(0).get("function").toString())
                    .isEqualTo("{\"name\":\"get_weather\",\"arguments\":\"{\\\"place\\\": \\\"Bern\\\"}\"}");
            assertThat(calls.get(0).get("type").stringValue()).isEqualTo("function");
            assertThat(calls.get(0).get("id").stringValue()).matches("call_[0-9a-f]{24}");
            assertThat(calls.get(0).get("id")).isNotEqualTo(calls.get(1).get("id"));
            assertThat(choice.get("finish_reason").stringValue()).isEqualTo("tool_calls");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1000})
    void stream_makes_the_same_message(int interval) throws IOException {
        String reply = "<think>\nHm.\n</think>\n\nLet me look.\n" + CALL + "\n" + SECOND;
        try (TestServer server = start(reply)) {
            ObjectNode body = body().put("request_id", "r").put("stream_interval", interval);
            JsonNode whole = choice(server, body);
            List<JsonNode> chunks = chunks(server, body);
            assertThat(joined(chunks)).isEqualTo(whole.get("message"));
            assertThat(chunks.getFirst().get("delta").get("role").stringValue()).isEqualTo("assistant");
            assertThat(chunks.getLast().get("finish_reason").stringValue()).isEqualTo("tool_calls");
            for (JsonNode chunk : chunks.subList(0, chunks.size() - 1)) {
                assertThat(chunk.get("finish_reason").isNull()).isTrue();
                assertThat(chunk.get("delta").path("tool_calls").size()).isLessThan(2);
            }
            assertThat(server.get("/metrics").body())
                    .as("two calls in each of two responses")
                    .contains("roseinfer:tool_calls_total{engine=\"0\",model_name=\"sim\"} 4.0");
        }
    }

    @Test
    void reply_without_a_call_is_content() throws IOException {
        try (TestServer server = start("It is < 20 degrees.")) {
            ObjectNode body = body();
            JsonNode choice = choice(server, body);
            assertThat(choice.get("message").toString())
                    .isEqualTo("{\"role\":\"assistant\",\"content\":\"It is < 20 degrees.\",\"refusal\":null}");
            assertThat(choice.get("finish_reason").stringValue()).isEqualTo("stop");
            assertThat(joined(chunks(server, body))).isEqualTo(choice.get("message"));
        }
    }

    @Test
    void malformed_call_is_content() throws IOException {
        String reply = "<tool_call>\n{\"name\": \"f\", \"arguments\": nothing}\n</tool_call>";
        try (TestServer server = start(reply)) {
            JsonNode choice = choice(server, body());
            assertThat(choice.get("message").get("content").stringValue()).isEqualTo(reply);
            assertThat(choice.get("finish_reason").stringValue()).isEqualTo("stop");
        }
    }

    /** Complete calls and the start of the next one are equal to the streamed ones. */
    @Test
    void reply_cut_by_the_maximum_has_the_calls_so_far() throws IOException {
        String reply = CALL + "\n" + SECOND;
        try (TestServer server = start(reply)) {
            int tokens = TestServer.WORDS.encode(reply).length;
            int complete = TestServer.WORDS.encode(CALL).length;
            for (int max = 1; max < tokens; max++) {
                ObjectNode body = body().put("request_id", "r").put("max_tokens", max);
                JsonNode choice = choice(server, body);
                JsonNode message = choice.get("message");
                List<JsonNode> chunks = chunks(server, body);
                assertThat(joined(chunks)).isEqualTo(message);
                assertThat(choice.get("finish_reason").stringValue()).isEqualTo("length");
                assertThat(chunks.getLast().get("finish_reason").stringValue()).isEqualTo("length");
                if (max >= complete) {
                    assertThat(message.get("tool_calls")
                                    .get(0)
                                    .get("function")
                                    .get("arguments")
                                    .stringValue())
                            .isEqualTo("{\"place\": \"Bern\"}");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void call_cut_by_the_maximum_is_not_counted(boolean stream) throws IOException {
        int tokens = TestServer.WORDS.encode(CALL).length + TestServer.WORDS.encode(CALL.substring(0, 60)).length;
        try (TestServer server = start(CALL + CALL)) {
            ObjectNode body = body().put("max_tokens", tokens);
            JsonNode message =
                    stream ? joined(chunks(server, body)) : choice(server, body).get("message");
            assertThat(message.get("tool_calls")).as("with the cut one").hasSize(2);
            assertThat(server.get("/metrics").body())
                    .contains("roseinfer:tool_calls_total{engine=\"0\",model_name=\"sim\"} 1.0");
        }
    }

    @Test
    void calls_are_text_if_the_model_may_not_call() throws IOException {
        try (TestServer server = start(CALL)) {
            assertThat(choice(server, body().put("tool_choice", "none"))
                            .get("message")
                            .get("content")
                            .stringValue())
                    .isEqualTo(CALL);
            ObjectNode plain = body();
            plain.remove("tools");
            JsonNode choice = choice(server, plain);
            assertThat(choice.get("message").get("content").stringValue()).isEqualTo(CALL);
            assertThat(choice.get("finish_reason").stringValue()).isEqualTo("stop");
        }
    }

    @Test
    void only_one_call_is_made_if_calls_are_not_parallel() throws IOException {
        try (TestServer server = start(CALL + "\n" + SECOND)) {
            ObjectNode body = body().put("parallel_tool_calls", false);
            assertThat(choice(server, body).get("message").get("tool_calls")).hasSize(1);
            assertThat(joined(chunks(server, body)).get("tool_calls")).hasSize(1);
        }
    }

    @Test
    void reasoning_is_omitted_on_request() throws IOException {
        try (TestServer server = start("<think>\nHm.\n</think>\n\nYes.")) {
            ObjectNode body = body().put("include_reasoning", false);
            assertThat(choice(server, body).get("message").toString())
                    .isEqualTo("{\"role\":\"assistant\",\"content\":\"Yes.\",\"refusal\":null}");
            assertThat(joined(chunks(server, body)).get("content").stringValue())
                    .isEqualTo("Yes.");
        }
    }

    @Test
    void each_of_several_choices_has_its_calls() throws IOException {
        try (TestServer server = start(CALL, "No.")) {
            Answer answer = server.post(PATH, body().put("n", 2).put("seed", 1).toString());
            JsonNode choices = TestServer.json(answer).get("choices");
            assertThat(choices.valueStream()
                            .map(each -> each.get("finish_reason").stringValue()))
                    .containsExactlyInAnyOrder("tool_calls", "stop");
        }
    }

    @Test
    void result_of_a_call_reaches_the_prompt() throws IOException {
        try (TestServer server = start(CALL, "18 degrees.")) {
            ObjectNode body = body();
            ArrayNode messages = (ArrayNode) body.get("messages");
            JsonNode message = choice(server, body).get("message");
            messages.add(message);
            messages.addObject()
                    .put("role", "tool")
                    .put(
                            "tool_call_id",
                            message.get("tool_calls").get(0).get("id").stringValue())
                    .put("content", "18");
            JsonNode choice = choice(server, body.put("return_token_ids", true));
            assertThat(choice.get("message").get("content").stringValue()).isEqualTo("18 degrees.");
            int[] ids = choice.get("prompt_token_ids")
                    .valueStream()
                    .mapToInt(JsonNode::intValue)
                    .toArray();
            assertThat(TestServer.WORDS.decode(ids))
                    .contains(CALL + "<|im_end|>", "<tool_response>\n18\n</tool_response>");
        }
    }

    /** The template of this model describes calls, but does not write them. */
    @Test
    void earlier_calls_are_content_if_the_template_does_not_write_them() throws IOException {
        try (TestServer server = TestServer.scripted(model("smollm3"), TestServer.WORDS, "18 degrees.")) {
            ObjectNode body = body().put("return_token_ids", true);
            ArrayNode messages = (ArrayNode) body.get("messages");
            // A short prompt: the template leaves its own instructions out.
            messages.insertObject(0).put("role", "system").put("content", "Answer. /system_override");
            messages.addObject()
                    .put("role", "assistant")
                    .put("content", "Let me look.")
                    .putArray("tool_calls")
                    .addObject()
                    .putObject("function")
                    .put("name", "get_weather")
                    .put("arguments", "{\"place\": \"Bern\"}");
            messages.addObject().put("role", "tool").put("content", "18");
            int[] ids = choice(server, body)
                    .get("prompt_token_ids")
                    .valueStream()
                    .mapToInt(JsonNode::intValue)
                    .toArray();
            assertThat(TestServer.WORDS.decode(ids)).contains("assistant\nLet me look.\n" + CALL + "<|im_end|>");
        }
    }

    @Test
    void logprobs_and_ids_cover_every_token() throws IOException {
        try (TestServer server = start(CALL)) {
            int tokens = TestServer.WORDS.encode(CALL).length + 1;
            ObjectNode body = body().put("logprobs", true).put("return_token_ids", true);
            assertThat(choice(server, body).get("logprobs").get("content")).hasSize(tokens);
            List<JsonNode> chunks = chunks(server, body);
            int streamed = 0;
            int ids = 0;
            for (JsonNode chunk : chunks) {
                streamed += chunk.path("logprobs").path("content").size();
                ids += chunk.path("token_ids").size();
            }
            assertThat(streamed).isEqualTo(tokens);
            assertThat(ids).isEqualTo(tokens);
        }
    }

    /** The marker of calls is a special token, which has no text in a completion. */
    @Test
    void marker_may_be_a_special_token() throws IOException {
        Tokenizer words = withSpecialToken("[TOOL_CALLS]");
        assertThat(words.encode("[TOOL_CALLS]")).hasSize(1);
        String reply = "Sure. [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\": 1}}]";
        try (TestServer server = TestServer.scripted(model("bracketed-turns"), words, reply)) {
            ObjectNode body = body().put("request_id", "r");
            JsonNode choice = choice(server, body);
            assertThat(choice.get("message").get("content").stringValue()).isEqualTo("Sure.");
            JsonNode call = choice.get("message").get("tool_calls").get(0);
            assertThat(call.get("function").get("arguments").stringValue()).isEqualTo("{\"x\": 1}");
            assertThat(call.get("id").stringValue()).matches("[0-9a-f]{9}");
            assertThat(joined(chunks(server, body))).isEqualTo(choice.get("message"));
        }
    }

    /** The built-in tokenizer with a special token instead of its last one. */
    private static Tokenizer withSpecialToken(String content) throws IOException {
        try (InputStream file = Objects.requireNonNull(
                ToolCallsTest.class.getResourceAsStream("/io/roseinfer/builtin/tiny/tokenizer.json"))) {
            ObjectNode root = (ObjectNode) StrictJson.parse(file.readAllBytes());
            ObjectNode vocabulary = (ObjectNode) root.get("model").get("vocab");
            int last = vocabulary.size() - 1;
            vocabulary.removeIf(id -> id.intValue() == last);
            vocabulary.put(content, last);
            ArrayNode merges = (ArrayNode) root.get("model").get("merges");
            JsonNode unused = merges.remove(merges.size() - 1);
            ((ArrayNode) root.get("added_tokens"))
                    .addObject()
                    .put("id", last)
                    .put("content", content)
                    .put("special", true);
            return Tokenizers.fromTokenizerJson(root.toString().getBytes(StandardCharsets.UTF_8), "test");
        }
    }

    @Test
    void formats_of_the_options_are_used() throws IOException {
        ServedModel model = model("tool-use")
                .withReplies(recognized -> new ReplyFormats(ToolCallFormat.LLAMA3_JSON, ReasoningFormat.DEEPSEEK_R1));
        String reply = "Hm.</think>\n{\"name\": \"f\", \"parameters\": {}}";
        try (TestServer server = TestServer.scripted(model, TestServer.WORDS, reply)) {
            JsonNode message = choice(server, body()).get("message");
            assertThat(message.get("reasoning_content").stringValue()).isEqualTo("Hm.");
            assertThat(message.get("tool_calls")).hasSize(1);
        }
    }

    private static final String WEATHER_SCHEMA =
            "{\"type\":\"object\",\"properties\":{\"place\":{\"enum\":[\"Bern\",\"Rome\"]},"
                    + "\"days\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3}},"
                    + "\"required\":[\"place\",\"days\"],\"additionalProperties\":false}";

    private static ObjectNode twoTools() {
        ObjectNode body = body();
        ArrayNode tools = (ArrayNode) body.get("tools");
        ObjectNode weather = (ObjectNode) tools.get(0).get("function");
        weather.set("parameters", TestServer.json(WEATHER_SCHEMA));
        tools.addObject().put("type", "function").putObject("function").put("name", "clock");
        // The prompt does not matter to a random model, and the model's context is short.
        return body.put("temperature", 1).put("max_tokens", 200).put("truncate_prompt_tokens", 100);
    }

    private static void assertValid(JsonNode call) {
        String name = call.get("function").get("name").stringValue();
        JsonNode arguments =
                TestServer.json(call.get("function").get("arguments").stringValue());
        if (name.equals("clock")) {
            assertThat(arguments).isEmpty();
        } else {
            assertThat(name).isEqualTo("get_weather");
            assertThat(arguments.propertyNames()).containsExactly("place", "days");
            assertThat(arguments.get("place").stringValue()).isIn("Bern", "Rome");
            assertThat(arguments.get("days").intValue()).isBetween(1, 3);
        }
    }

    /** A random model: only the grammar makes it call. */
    @ParameterizedTest
    @ValueSource(strings = {"qwen2.5", "bracketed-turns", "header-turns"})
    void required_call_of_a_random_model_is_valid(String template) throws IOException {
        ServerOptions options = TestServer.options().withModel(model(template));
        try (TestServer server = new TestServer(TestServer.engineOptions(), SimOptions.defaults(), options)) {
            for (int seed = 0; seed < 10; seed++) {
                ObjectNode body = twoTools()
                        .put("tool_choice", "required")
                        .put("parallel_tool_calls", false)
                        .put("seed", seed);
                JsonNode choice = choice(server, body);
                assertThat(choice.get("message").get("content").isNull()).isTrue();
                assertThat(choice.get("message").get("tool_calls")).hasSize(1);
                assertValid(choice.get("message").get("tool_calls").get(0));
                assertThat(choice.get("finish_reason").stringValue()).isEqualTo("tool_calls");
                body.putObject("tool_choice")
                        .put("type", "function")
                        .putObject("function")
                        .put("name", "get_weather");
                JsonNode named = choice(server, body);
                assertThat(named.get("message")
                                .get("tool_calls")
                                .get(0)
                                .get("function")
                                .get("name")
                                .stringValue())
                        .isEqualTo("get_weather");
            }
        }
    }

    @Test
    void required_tool_with_an_unsupported_schema_has_any_object_unless_it_is_strict() throws IOException {
        String schema = "{\"properties\":{\"days\":{\"type\":\"array\",\"uniqueItems\":true}}}";
        try (TestServer server = start("<think>Hm.</think>\n" + CALL)) {
            ObjectNode body = body().put("tool_choice", "required");
            ObjectNode function = (ObjectNode) body.get("tools").get(0).get("function");
            function.set("parameters", TestServer.json(schema));
            assertThat(choice(server, body).get("message").get("tool_calls")).hasSize(1);
            function.put("strict", true);
            Answer answer = server.post(PATH, body.toString());
            assertThat(answer.status()).isEqualTo(400);
            assertThat(TestServer.json(answer).get("error").get("param").stringValue())
                    .isEqualTo("tools[0].function.parameters");
            function.set("parameters", TestServer.json("{\"type\":\"object\",\"propertes\":{}}"));
            assertThat(server.post(PATH, body.toString()).header("x-roseinfer-ignored"))
                    .contains("tools[0].function.parameters/propertes");
            assertThat(TestServer.json(answer).get("error").get("message").stringValue())
                    .contains("uniqueItems");
        }
    }

    @Test
    void calls_in_python_cannot_be_enforced() throws IOException {
        try (TestServer server = TestServer.scripted(model("pythonic"), TestServer.WORDS, "[f(x=1)]")) {
            assertThat(choice(server, body()).get("message").get("tool_calls")).hasSize(1);
            Answer answer =
                    server.post(PATH, body().put("tool_choice", "required").toString());
            assertThat(answer.status()).isEqualTo(400);
            assertThat(TestServer.json(answer).get("error").get("param").stringValue())
                    .isEqualTo("tool_choice");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "tools § {} § must be a list",
                "tools[0].type § [{\"type\":\"web_search\"}] § tools[0].type must be function",
                "tools[0].function.name § [{\"type\":\"function\",\"function\":{}}] § tools[0].function.name",
                "tools[0].function.parameters § [{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":5}}] § tools[0].function.parameters",
                "tools[0].function.name § [{\"type\":\"function\",\"function\":{\"name\":\"get weather\"}}] § \"get weather\"",
                "tools[1].function.name § [{\"type\":\"function\",\"function\":{\"name\":\"f\"}},{\"type\":\"function\",\"function\":{\"name\":\"f\"}}] § an earlier tool",
                "tools[0].function.parameters.type § [{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"array\"}}}] § parameters.type",
                "messages[1].tool_call_id § [{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"tool\",\"content\":\"b\",\"tool_call_id\":\"c\"}] § is \"c\"",
                "tool_choice § \"some\" § auto, required",
                "tool_choice § {\"type\":\"allowed_tools\"} § type function",
                "tool_choice § {\"type\":\"function\",\"function\":{\"name\":\"g\"}} § \"g\"",
                "parallel_tool_calls § 1 § true or false",
                "include_reasoning § \"no\" § true or false"
            })
    void wrong_field_is_named(String field, String value, String named) throws IOException {
        try (TestServer server = start("Hi")) {
            ObjectNode body = body();
            body.set(field.replaceFirst("\\[.*", ""), TestServer.json(value));
            Answer answer = server.post(PATH, body.toString());
            assertThat(answer.status()).isEqualTo(400);
            JsonNode error = TestServer.json(answer).get("error");
            assertThat(error.get("param").stringValue()).isEqualTo(field);
            assertThat(error.get("message").stringValue()).contains(named);
        }
    }
}
