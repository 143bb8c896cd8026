package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.base.Clock;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.golden.Golden;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The built-in chat model on the server. */
@Tag("parity")
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@TestInstance(Lifecycle.PER_CLASS)
class BuiltinChatTest {
    private static final String MODEL = "builtin:chat";
    private static final String PATH = "/v1/chat/completions";

    private static final Golden GOLDEN = Golden.read("builtin-chat");

    /** The golden conversation whose request ends as LangChain4j describes a class. */
    private static final int LANGCHAIN4J = 8;

    /** The golden conversation whose request ends as Spring AI describes a class. */
    private static final int SPRING_AI = 9;

    /** The golden conversation that a call ends. */
    private static final int CALL = 10;

    /** The golden conversation with the call and its result. */
    private static final int RESULT = 11;

    private static final DownloadListener SILENT = new DownloadListener() {
        @Override
        public void progress(String file, long bytesSoFar, long totalBytes) {}

        @Override
        public void warning(String message) {}
    };

    private final EngineOptions options = EngineOptions.defaults().withKvBlocks(256);
    private final LoadedModel model = Roseinfer.load(
            Settings.of(MODEL).withDevice(Settings.Device.CPU).withThreads(2).withEngine(options), SILENT);
    private final ServerMetrics metrics = new ServerMetrics(MODEL);
    private final Engine engine = model.serve(options, Clock.system(), metrics.observers());
    private final Server server = Server.start(
            engine,
            ServerOptions.of(MODEL, "1").withModel(ServedModel.named(MODEL).withChat(model.chat())),
            metrics,
            new AccessLog(AccessLog.Format.JSON, line -> {}, Clock.system(), () -> TestServer.NOW),
            Clock.system(),
            () -> TestServer.NOW);

    @AfterAll
    void close() {
        server.close();
        engine.close();
        model.close();
    }

    /** A greedy request with the messages and tools of a golden conversation. */
    private static ObjectNode golden(int prompt) {
        ObjectNode body = StrictJson.mapper().createObjectNode();
        body.setAll((ObjectNode) GOLDEN.prompt(prompt).deepCopy());
        return body.retain("messages", "tools").put("temperature", 0);
    }

    private static ObjectNode withMessage(ObjectNode body, String text) {
        body.putArray("messages").addObject().put("role", "user").put("content", text);
        return body;
    }

    private static String text(int prompt) {
        return GOLDEN.prompt(prompt).get("greedy_text").asString();
    }

    private String post(ObjectNode body) throws IOException {
        try (RawClient client = new RawClient(server.address())) {
            RawClient.Answer answer = client.call(RawClient.post(PATH, body.toString()));
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            return answer.body();
        }
    }

    private JsonNode choice(ObjectNode body) throws IOException {
        return TestServer.json(post(body)).get("choices").get(0);
    }

    @Test
    void responses_end_at_the_end_of_the_turn() throws IOException {
        for (int p = 0; p < CALL; p++) {
            JsonNode choice = choice(golden(p));
            assertThat(choice.get("message").get("content").asString()).isEqualTo(text(p));
            assertThat(choice.get("finish_reason").asString()).isEqualTo("stop");
        }
    }

    @Test
    void call_is_that_of_hugging_face() throws IOException {
        JsonNode choice = choice(golden(CALL));
        JsonNode message = choice.get("message");
        assertThat(message.get("content").isNull()).isTrue();
        assertThat(message.get("tool_calls")).hasSize(1);
        JsonNode function = message.get("tool_calls").get(0).get("function");
        assertThat("<tool_call>\n{\"name\": " + function.get("name") + ", \"arguments\": "
                        + function.get("arguments").asString() + "}\n</tool_call>")
                .isEqualTo(text(CALL));
        assertThat(choice.get("finish_reason").asString()).isEqualTo("tool_calls");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4, 6, CALL})
    void stream_makes_the_same_message(int prompt) throws IOException {
        ObjectNode body = golden(prompt).put("request_id", "r" + prompt);
        JsonNode message = choice(body).get("message");
        List<String> events = TestServer.events(post(body.put("stream", true)));
        assertThat(events.getLast()).isEqualTo("[DONE]");
        List<JsonNode> chunks = events.subList(0, events.size() - 1).stream()
                .map(event -> TestServer.json(event).get("choices").get(0))
                .toList();
        assertThat(chunks).hasSizeGreaterThan(5);
        assertThat(ToolCallsTest.joined(chunks)).isEqualTo(message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'name': 'get_weather', 'parameters': %s}",
                "{'name': 'get_weather', 'parameters': %s, 'description': 'The weather of a place'}",
                "{'strict': true, 'parameters': %s, 'description': 'The weather of a place', 'name': 'get_weather'}"
            })
    void function_is_called_whatever_the_order_of_its_fields(String function) throws IOException {
        ObjectNode body = golden(CALL);
        JsonNode parameters = body.at("/tools/0/function/parameters");
        ((ObjectNode) body.at("/tools/0"))
                .set("function", TestServer.json(function.replace('\'', '"').formatted(parameters)));
        JsonNode call = choice(body).get("message").get("tool_calls").get(0);
        assertThat(call.get("function").get("arguments").asString()).isEqualTo("{\"place\": \"Bern\"}");
    }

    @Test
    void result_of_a_call_is_answered_in_words() throws IOException {
        ObjectNode body = golden(CALL);
        JsonNode message = choice(body).get("message");
        ((ArrayNode) body.get("messages"))
                .add(message)
                .addObject()
                .put("role", "tool")
                .put("tool_call_id", message.get("tool_calls").get(0).get("id").asString())
                .put(
                        "content",
                        GOLDEN.prompt(RESULT)
                                .get("messages")
                                .get(2)
                                .get("content")
                                .asString());
        assertThat(choice(body).get("message").get("content").asString()).isEqualTo(text(RESULT));
    }

    @Test
    void request_without_a_fitting_function_gets_words() throws IOException {
        JsonNode choice = choice(withMessage(golden(CALL), "Send a message to Anna"));
        assertThat(choice.get("message").has("tool_calls")).isFalse();
        assertThat(choice.get("message").get("content").asString()).isEqualTo("I have no function for that.");
    }

    @Test
    void required_tool_is_called_where_words_would_follow() throws IOException {
        ObjectNode body = withMessage(golden(CALL), "Hi");
        assertThat(choice(body).get("message").get("content").asString()).startsWith("Hello!");
        JsonNode choice = choice(body.put("tool_choice", "required"));
        JsonNode function = choice.get("message").get("tool_calls").get(0).get("function");
        assertThat(function.get("name").asString()).isEqualTo("get_weather");
        JsonNode arguments = TestServer.json(function.get("arguments").asString());
        assertThat(arguments.propertyNames()).containsExactly("place");
        assertThat(choice.get("finish_reason").asString()).isEqualTo("tool_calls");
    }

    @ParameterizedTest
    @ValueSource(ints = {LANGCHAIN4J, SPRING_AI})
    void fields_that_a_java_client_describes_are_filled_in_their_order(int prompt) throws IOException {
        String order = prompt == SPRING_AI
                ? "{\"age\": 12, \"city\": \"Oslo\", \"name\": \"Anna\"}"
                : "{\"name\": \"Anna\", \"age\": 12, \"city\": \"Oslo\"}";
        assertThat(choice(golden(prompt)).get("message").get("content").asString())
                .isEqualTo(order);
    }

    @Test
    void schema_of_the_response_is_filled_from_the_message() throws IOException {
        String filled = "{\"city\": \"Oslo\", \"age\": 12, \"name\": \"Anna\"}";
        ObjectNode body = withMessage(golden(0), "Anna is 12 years old and lives in Oslo.");
        assertThat(choice(body).get("message").get("content").asString()).isNotEqualTo(filled);
        body.set("response_format", TestServer.json("""
                {"type": "json_schema", "json_schema": {"name": "person", "schema": {
                    "type": "object", "additionalProperties": false, "required": ["city", "age", "name"],
                    "properties": {"city": {"type": "string", "maxLength": 40},
                        "age": {"type": "integer", "minimum": 0, "maximum": 130},
                        "name": {"type": "string", "maxLength": 40}}}}}"""));
        assertThat(choice(body).get("message").get("content").asString()).isEqualTo(filled);
    }
}
