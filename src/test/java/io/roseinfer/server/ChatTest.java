package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.server.http.RawClient.Answer;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Conversations: their prompts and responses. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@TestInstance(Lifecycle.PER_CLASS)
class ChatTest {
    private static final String TEMPLATE = """
            {%- if messages[0].role == 'critic' %}{{ raise_exception('no critics') }}{% endif %}
            {%- for m in messages %}{{ eos_token ~ m.role ~ ': ' ~ m.content }}{% if m.tool_calls %}{{ m.tool_calls[0].function.arguments.x }}{% endif %}{% endfor %}
            {%- if tools %}{{ tools | tojson }}{% endif %}{{ mood }}
            {%- if add_generation_prompt %}{{ eos_token ~ 'assistant: ' }}{% endif %}""";

    private static final String CHATML =
            "{%% for m in messages %%}{{ '<|im_start|>' ~ m.role }}\n{{ %s }}<|im_end|>\n{%% endfor %%}";

    private static final ServerOptions OPTIONS = options(TEMPLATE);
    private static final String TOOLS = "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"x\": 1}}]";
    private static final String HELLO = "[{\"role\":\"user\",\"content\":\"Hello\"}]";

    private final TestServer server = new TestServer(TestServer.engineOptions(), SimOptions.defaults(), OPTIONS);

    private static ServerOptions options(String template) {
        ChatTemplate chat = ChatTemplate.parse(template, "test", Map.of("eos_token", "<|endoftext|>"));
        return TestServer.options()
                .withModel(ServedModel.named(TestServer.MODEL).withChat(Optional.of(chat)));
    }

    @AfterAll
    void close() {
        server.close();
    }

    private static ObjectNode body(String messages) {
        ObjectNode body = StrictJson.mapper().createObjectNode();
        body.set("messages", TestServer.json(messages));
        return body.put("max_tokens", 12).put("temperature", 0);
    }

    private Answer chat(ObjectNode body) throws IOException {
        return server.post("/v1/chat/completions", body.toString());
    }

    private static JsonNode choice(JsonNode object) {
        return object.get("choices").get(0);
    }

    /** The prompt ids of a body's conversation. */
    private int[] prompt(ObjectNode body) throws IOException {
        Answer answer = chat(body.put("return_token_ids", true));
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return choice(TestServer.json(answer))
                .get("prompt_token_ids")
                .valueStream()
                .mapToInt(JsonNode::intValue)
                .toArray();
    }

    @Test
    void conversation_without_max_tokens_is_limited_by_a_small_pool() throws IOException {
        ServedModel model = ServedModel.named(TestServer.MODEL).withChat(TestServer.chat());
        try (TestServer small = new TestServer(
                TestServer.engineOptions().withKvBlocks(20),
                SimOptions.defaults(),
                TestServer.options().withModel(model))) {
            String body = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"ignore_eos\":true}";
            Answer answer = small.post("/v1/chat/completions", body);
            assertThat(answer.status()).as(answer.body()).isEqualTo(200);
            assertThat(TestServer.json(answer).get("usage").get("total_tokens").intValue())
                    .isEqualTo(small.engine.maxRequestTokens());
        }
    }

    private String promptText(ObjectNode body) throws IOException {
        return TestServer.WORDS.decode(prompt(body));
    }

    private String expected(String prompt, int tokens) {
        return server.engine
                .generate(GenerationRequest.of(prompt).withMaxNewTokens(tokens))
                .text()
                .orElseThrow();
    }

    @Test
    void reply_continues_the_rendered_template() throws IOException {
        JsonNode answer = TestServer.json(chat(body(HELLO)));
        assertThat(answer.get("object").stringValue()).isEqualTo("chat.completion");
        assertThat(answer.get("id").stringValue()).startsWith("chatcmpl-");
        JsonNode message = choice(answer).get("message");
        assertThat(message.get("role").stringValue()).isEqualTo("assistant");
        assertThat(message.get("content").stringValue())
                .isEqualTo(expected("<|endoftext|>user: Hello<|endoftext|>assistant: ", 12));
        assertThat(choice(answer).get("finish_reason").stringValue()).isEqualTo("length");
    }

    @Test
    void special_tokens_of_the_template_are_tokens() throws IOException {
        int[] ids = prompt(body(HELLO));
        int end = TestServer.WORDS.endOfText().orElseThrow();
        assertThat(ids[0]).isEqualTo(end);
        assertThat(IntStream.of(ids).filter(id -> id == end).count()).isEqualTo(2);
    }

    @Test
    void stream_has_the_same_text_between_role_and_usage() throws IOException {
        String plain = choice(TestServer.json(chat(body(HELLO))))
                .get("message")
                .get("content")
                .stringValue();
        ObjectNode body = body(HELLO).put("stream", true);
        body.putObject("stream_options").put("include_usage", true);
        List<String> events = TestServer.events(chat(body).body());
        assertThat(events.getLast()).isEqualTo("[DONE]");
        List<JsonNode> chunks = events.subList(0, events.size() - 1).stream()
                .map(TestServer::json)
                .toList();
        assertThat(chunks)
                .allSatisfy(
                        chunk -> assertThat(chunk.get("object").stringValue()).isEqualTo("chat.completion.chunk"));
        assertThat(choice(chunks.getFirst()).get("delta").toString())
                .isEqualTo("{\"role\":\"assistant\",\"content\":\"\"}");
        StringBuilder text = new StringBuilder();
        for (JsonNode chunk : chunks.subList(1, chunks.size() - 1)) {
            assertThat(choice(chunk).get("delta").propertyNames()).containsExactly("content");
            text.append(choice(chunk).get("delta").get("content").stringValue());
        }
        assertThat(text).hasToString(plain);
        assertThat(choice(chunks.get(chunks.size() - 2)).get("finish_reason").stringValue())
                .isEqualTo("length");
        assertThat(chunks.getLast().get("choices")).isEmpty();
        assertThat(chunks.getLast().get("usage").get("completion_tokens").intValue())
                .isEqualTo(12);
    }

    /** The role is sent with the first token, so that earlier failures have their own status. */
    @Test
    void first_event_is_sent_with_the_first_token() throws IOException {
        SimOptions sim = SimOptions.defaults().withOnStep(step -> {
            throw new DeviceFailure("the device hiccuped", true);
        });
        try (TestServer failing = new TestServer(TestServer.engineOptions(), sim, OPTIONS)) {
            Answer answer = failing.post(
                    "/v1/chat/completions", body(HELLO).put("stream", true).toString());
            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.body()).doesNotContain("assistant");
        }
    }

    @Test
    void each_of_several_choices_begins_with_its_role() throws IOException {
        List<String> events = TestServer.events(
                chat(body(HELLO).put("n", 3).put("temperature", 1).put("stream", true))
                        .body());
        for (int choice = 0; choice < 3; choice++) {
            int index = choice;
            List<JsonNode> own = events.subList(0, events.size() - 1).stream()
                    .map(event -> choice(TestServer.json(event)))
                    .filter(event -> event.get("index").intValue() == index)
                    .toList();
            assertThat(own.getFirst().get("delta").has("role")).isTrue();
            assertThat(own.stream().filter(event -> event.get("delta").has("role")))
                    .hasSize(1);
        }
    }

    @Test
    void log_probabilities_have_the_form_of_a_chat() throws IOException {
        JsonNode content = choice(
                        TestServer.json(chat(body(HELLO).put("logprobs", true).put("top_logprobs", 2))))
                .get("logprobs")
                .get("content");
        assertThat(content).hasSize(12);
        for (JsonNode token : content) {
            assertThat(token.propertyNames()).containsExactly("token", "logprob", "bytes", "top_logprobs");
            assertThat(token.get("top_logprobs")).hasSize(2);
            assertThat(token.get("bytes")).isNotEmpty();
        }
    }

    @Test
    void newer_name_of_the_limit_takes_precedence() throws IOException {
        JsonNode answer = TestServer.json(chat(body(HELLO).put("max_completion_tokens", 3)));
        assertThat(answer.get("usage").get("completion_tokens").intValue()).isEqualTo(3);
    }

    @Test
    void without_a_limit_the_context_is_one() throws IOException {
        ObjectNode body = body(HELLO).put("ignore_eos", true);
        body.remove("max_tokens");
        Answer answer = chat(body);
        assertThat(TestServer.json(answer).get("usage").get("total_tokens").intValue())
                .isEqualTo(TestServer.SPEC.contextLength());
        assertThat(answer.headers()).doesNotContainKey("x-roseinfer-clamped");
    }

    @Test
    void text_parts_become_lines() throws IOException {
        String messages =
                "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}]";
        assertThat(promptText(body(messages))).contains("user: a\nb");
    }

    @Test
    void missing_content_is_empty_and_arguments_are_parsed() throws IOException {
        String messages = "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"function\":{\"name\":\"f\","
                + "\"arguments\":\"{\\\"x\\\": 5}\"}}]}]";
        assertThat(promptText(body(messages))).contains("assistant: 5");
    }

    /** A template that writes complete messages writes their tool calls without naming the field. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "{% for m in messages %}{{ m.content }}{% endfor %} # 400",
                "{% for m in messages %}{{ m | tojson }}{% endfor %} # 200",
                "{% for m in messages %}{{ m.content }}{% if m.tool_calls %}call{% endif %}{% endfor %} # 200"
            })
    void tool_calls_omitted_by_the_template_are_rejected(String template, int status) throws IOException {
        String messages =
                "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\","
                        + "\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"content\":\"b\"}]";
        try (TestServer writing =
                new TestServer(TestServer.engineOptions(), SimOptions.defaults(), options(template))) {
            Answer answer = writing.post("/v1/chat/completions", body(messages).toString());
            assertThat(answer.status()).as(answer.body()).isEqualTo(status);
            if (status == 400) {
                assertThat(TestServer.json(answer).get("error").get("param").stringValue())
                        .isEqualTo("messages[1].tool_calls");
            }
        }
    }

    @Test
    void variables_of_the_client_reach_the_template() throws IOException {
        ObjectNode body = body(HELLO);
        body.putObject("chat_template_kwargs").put("mood", "gloomy").put("messages", "mine");
        assertThat(promptText(body)).contains("gloomy").doesNotContain("mine");
    }

    @Test
    void tools_that_may_not_be_called_reach_a_template_that_uses_them() throws IOException {
        ObjectNode body = body(HELLO).put("tool_choice", "none");
        body.set("tools", TestServer.json(TOOLS));
        assertThat(promptText(body)).contains(TOOLS);
    }

    /** The template does not show how the model writes calls, so a client must not wait for one. */
    @ParameterizedTest
    @ValueSource(
            strings = {"null", "\"auto\"", "\"required\"", "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"})
    void callable_tools_are_rejected_if_the_format_of_calls_is_unknown(String choice) throws IOException {
        ObjectNode body = body(HELLO);
        body.set("tool_choice", TestServer.json(choice));
        body.set("tools", TestServer.json(TOOLS));
        Answer answer = chat(body);
        assertThat(answer.status()).isEqualTo(400);
        JsonNode error = TestServer.json(answer).get("error");
        assertThat(error.get("param").stringValue()).isEqualTo("tools");
        assertThat(error.get("message").stringValue()).contains("tool_call_parser", "tool_choice to none");
    }

    @Test
    void null_fields_and_empty_tool_calls_are_treated_as_absent() throws IOException {
        try (TestServer keys = new TestServer(
                TestServer.engineOptions(),
                SimOptions.defaults(),
                options("{% for m in messages %}{% for key in m %}{{ key }},{% endfor %}{% endfor %}"))) {
            for (String calls : List.of("null", "[]")) {
                assertThat(rendered(
                                keys,
                                "[{\"role\":\"assistant\",\"content\":\"a\",\"refusal\":null,\"audio\":null,\"tool_calls\":"
                                        + calls + "}]",
                                ""))
                        .isEqualTo("role,content,");
            }
        }
    }

    /** The server's prompt for a conversation, as text. */
    private static String rendered(TestServer of, String messages, String fields) throws IOException {
        JsonNode counted = TestServer.json(of.post("/tokenize", "{\"messages\":" + messages + fields + "}"));
        assertThat(counted.has("tokens")).as(counted.toString()).isTrue();
        return TestServer.WORDS.decode(
                counted.get("tokens").valueStream().mapToInt(JsonNode::intValue).toArray());
    }

    /**
     * Messages made of the texts that templates write around them, so that each also occurs elsewhere in the prompt;
     * also empty ones.
     */
    @Test
    void continued_prompt_ends_with_the_last_message() throws IOException {
        String front = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n";
        long seed = 28;
        Random random = new Random(seed);
        List<String> pieces = List.of("<", "|", "im_end", "e", "i", "\n", " ", "assistant", "<|im_end|>", "end");
        try (TestServer exact = new TestServer(
                        TestServer.engineOptions(), SimOptions.defaults(), options(CHATML.formatted("m.content")));
                TestServer trimming = new TestServer(
                        TestServer.engineOptions(),
                        SimOptions.defaults(),
                        options(CHATML.formatted("m.content | trim")))) {
            for (int round = 0; round < 60; round++) {
                StringBuilder text = new StringBuilder();
                for (int i = random.nextInt(4); i > 0; i--) {
                    text.append(pieces.get(random.nextInt(pieces.size())));
                }
                ArrayNode messages = StrictJson.mapper().createArrayNode();
                messages.addObject().put("role", "user").put("content", "Hi");
                messages.addObject().put("role", "assistant").put("content", text.toString());
                String fields = ",\"continue_final_message\":true";
                assertThat(rendered(exact, messages.toString(), fields))
                        .as("seed %d, round %d", seed, round)
                        .isEqualTo(front + text);
                assertThat(rendered(trimming, messages.toString(), fields).stripTrailing())
                        .as("seed %d, round %d", seed, round)
                        .isEqualTo((front + text.toString().strip()).stripTrailing());
            }
        }
    }

    @Test
    void template_errors_are_reported_without_the_servers_paths() throws IOException {
        ChatTemplate chat =
                ChatTemplate.parse("{{ messages | length + 'a' }}", "/secret/chat_template.jinja", Map.of());
        ServerOptions options = TestServer.options()
                .withModel(ServedModel.named(TestServer.MODEL).withChat(Optional.of(chat)));
        try (TestServer failing = new TestServer(TestServer.engineOptions(), SimOptions.defaults(), options)) {
            Answer answer = failing.post("/v1/chat/completions", body(HELLO).toString());
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.body())
                    .contains("the chat template failed for this conversation")
                    .doesNotContain("secret");
            assertThat(failing.log).noneMatch(line -> line.contains("secret"));
        }
    }

    @Test
    void tools_are_rejected_if_the_template_does_not_use_them() throws IOException {
        try (TestServer plain = new TestServer(
                TestServer.engineOptions(), SimOptions.defaults(), options("{{ messages[0].content }}"))) {
            ObjectNode body = body(HELLO).put("tool_choice", "none");
            body.set("tools", TestServer.json(TOOLS));
            Answer answer = plain.post("/v1/chat/completions", body.toString());
            assertThat(answer.status()).isEqualTo(400);
            assertThat(TestServer.json(answer).get("error").get("param").stringValue())
                    .isEqualTo("tools");
        }
    }

    @Test
    void last_message_can_be_continued() throws IOException {
        String messages =
                "[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":\"assistant\",\"content\":\"Once upon \"}]";
        assertThat(promptText(body(messages).put("continue_final_message", true)))
                .endsWith("assistant: Once upon ");
    }

    @Test
    void without_generation_prompt_the_prompt_ends_earlier() throws IOException {
        assertThat(promptText(body(HELLO).put("add_generation_prompt", false))).endsWith("user: Hello");
    }

    @Test
    void conversation_tokens_can_be_counted() throws IOException {
        JsonNode counted = TestServer.json(server.post("/tokenize", "{\"messages\":" + HELLO + "}"));
        assertThat(counted.get("tokens").valueStream().mapToInt(JsonNode::intValue))
                .containsExactly(IntStream.of(prompt(body(HELLO))).boxed().toArray(Integer[]::new));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "{} § messages § missing",
                "{\"messages\":[]} § messages § at least one",
                "{\"messages\":\"hi\"} § messages § list",
                "{\"messages\":[5]} § messages[0] § object",
                "{\"messages\":[{\"content\":\"a\"}]} § messages[0].role § string",
                "{\"messages\":[{\"role\":5,\"content\":\"a\"}]} § messages[0].role § string",
                "{\"messages\":[{\"role\":\"usr\",\"content\":\"a\"}]} § messages[0].role § system, developer, user",
                "{\"messages\":[{\"role\":\"user\"}]} § messages[0].content § missing",
                "{\"messages\":[{\"role\":\"system\",\"content\":null}]} § messages[0].content § missing",
                "{\"messages\":[{\"role\":\"user\",\"content\":5}]} § messages[0].content § text parts",
                "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]} § messages[0].content § image_url",
                "{\"messages\":[{\"role\":\"user\",\"content\":[5]}]} § messages[0].content § part",
                "{\"messages\":[{\"role\":\"critic\",\"content\":\"a\"}]} § messages § no critics",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]} § messages § surrogate",
                "{\"messages\":HELLO,\"chat_template_kwargs\":5} § chat_template_kwargs § object",
                "{\"messages\":HELLO,\"chat_template\":\"x\"} § chat_template § not supported",
                "{\"messages\":HELLO,\"top_logprobs\":2} § top_logprobs § logprobs",
                "{\"messages\":HELLO,\"logprobs\":2} § logprobs § true or false",
                "{\"messages\":HELLO,\"logprobs\":true,\"top_logprobs\":21} § top_logprobs § 20",
                "{\"messages\":HELLO,\"tool_choice\":\"auto\"} § tool_choice § tools",
                "{\"messages\":HELLO,\"tools\":[5],\"tool_choice\":\"none\"} § tools[0].type § tools[0].type",
                "{\"messages\":HELLO,\"max_completion_tokens\":0} § max_completion_tokens § 1 to 2147483647, or 0 with prompt_logprobs",
                "{\"messages\":HELLO,\"max_tokens\":-1} § max_tokens § 1 to 2147483647, or 0 with prompt_logprobs",
                "{\"messages\":HELLO,\"continue_final_message\":true,\"add_generation_prompt\":true} § continue_final_message § add_generation_prompt",
                "{\"messages\":HELLO,\"echo\":true} § echo § not supported",
                "{\"messages\":HELLO,\"response_format\":{\"type\":\"xml\"}} § response_format § json_schema"
            })
    void wrong_field_is_named(String body, String param, String named) throws IOException {
        Answer answer = server.post("/v1/chat/completions", body.replace("HELLO", HELLO));
        assertThat(answer.status()).isEqualTo(400);
        JsonNode error = TestServer.json(answer).get("error");
        assertThat(error.get("param").stringValue()).isEqualTo(param);
        assertThat(error.get("message").stringValue()).contains(named);
    }

    @Test
    void conversation_longer_than_the_context_is_rejected() throws IOException {
        String messages = "[{\"role\":\"user\",\"content\":\"" + "z".repeat(4000) + "\"}]";
        Answer answer = chat(body(messages));
        assertThat(answer.status()).isEqualTo(400);
        assertThat(TestServer.json(answer).get("error").get("message").stringValue())
                .contains("context");
    }

    @Test
    void omitted_fields_have_the_model_authors_defaults() throws IOException {
        SamplingDefaults defaults = new SamplingDefaults(SamplingParams.greedy(), OptionalInt.of(5), true);
        ServerOptions options = TestServer.options().withModel(OPTIONS.model().withDefaults(defaults));
        try (TestServer greedy = new TestServer(TestServer.engineOptions(), SimOptions.defaults(), options)) {
            String body = "{\"messages\":" + HELLO + "}";
            JsonNode answer = TestServer.json(greedy.post("/v1/chat/completions", body));
            assertThat(choice(answer).get("message").get("content").stringValue())
                    .isEqualTo(expected("<|endoftext|>user: Hello<|endoftext|>assistant: ", 5));
            JsonNode completion = TestServer.json(greedy.complete("{\"prompt\":\"Hello\"}"));
            assertThat(choice(completion).get("text").stringValue()).isEqualTo(expected("Hello", 5));
            JsonNode longer = TestServer.json(greedy.complete("{\"prompt\":\"Hello\",\"max_tokens\":9}"));
            assertThat(choice(longer).get("text").stringValue()).isEqualTo(expected("Hello", 9));
        }
    }
}
