package io.roseinfer.tokenizer.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The cost of rendering is linear in the text: long conversations are within the budget. */
public final class LongConversationsTest {
    private static final LocalDateTime NOW = LocalDateTime.of(2026, 3, 5, 14, 7, 9);
    private static final Map<String, String> TOKENS = Map.of("bos_token", "<s>", "eos_token", "</s>");

    /** Turns of user and assistant, which begin and end with the user. */
    private static ArrayNode turns(int messages, int chars) {
        ArrayNode turns = StrictJson.mapper().createArrayNode();
        for (int i = 0; i < messages; i++) {
            turns.addObject().put("role", i % 2 == 0 ? "user" : "assistant").put("content", content(i, chars));
        }
        return turns;
    }

    private static String content(int number, int chars) {
        String begin = "message " + number + ' ';
        return begin + "x ".repeat((chars - begin.length()) / 2);
    }

    private static ArrayNode toolCalls(int calls, int chars) {
        ArrayNode turns = turns(1, 20);
        for (int i = 0; i < calls; i++) {
            String id = String.format("call%05d", i);
            ObjectNode message = turns.addObject().put("role", "assistant").put("content", "");
            ObjectNode call = message.putArray("tool_calls").addObject();
            call.put("id", id).put("type", "function");
            call.putObject("function")
                    .put("name", "look_up")
                    .putObject("arguments")
                    .put("text", content(i, chars));
            turns.addObject().put("role", "tool").put("tool_call_id", id).put("content", content(i, chars));
        }
        return turns;
    }

    private static ArrayNode tools(int count, int chars) {
        ArrayNode tools = StrictJson.mapper().createArrayNode();
        for (int i = 0; i < count; i++) {
            ObjectNode function = tools.addObject().put("type", "function").putObject("function");
            function.put("name", "tool" + i).put("description", content(i, chars));
            function.putObject("parameters")
                    .put("type", "object")
                    .putObject("properties")
                    .putObject("a")
                    .put("type", "string");
        }
        return tools;
    }

    /**
     * Asserts that a template renders 2,000 short messages, and 200 tool calls of 500 characters with their results.
     */
    public static void assertWritesLongConversations(ChatTemplate template) {
        assertHolds(template, turns(2_001, 50), Optional.empty(), 2_000);
        assertHolds(template, toolCalls(200, 500), Optional.of(tools(10, 200)), 199);
    }

    private static void assertHolds(ChatTemplate template, JsonNode messages, Optional<JsonNode> tools, int last) {
        String text = template.render(new Conversation(messages, tools, true, Map.of(), NOW));
        assertTrue(text.contains("message 0 ") && text.contains("message " + last + " "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"qwen2.5", "qwen3", "smollm2", "smollm3", "header-turns", "bracketed-turns"})
    void long_conversations_are_rendered(String name) {
        assertWritesLongConversations(
                ChatTemplate.parse(ChatGoldens.text("templates/" + name + ".jinja"), name, TOKENS));
    }

    private static String render(String source, JsonNode messages) {
        return ChatTemplate.parse(source, "test", TOKENS)
                .render(new Conversation(messages, Optional.of(tools(1_000, 700)), true, Map.of(), NOW));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "{{ tools|tojson }} § 700000",
                "{{ tools|tojson(indent=2) }} § 700000",
                "{{ messages[0].content|replace(' ', '\\n') }} § 1000000",
                "{{ messages[0].content.replace('x', '') }} § 500000",
                "{{ messages[0].content.replace(' ', '\\n')|indent }} § 2900000",
                "{{ messages[0].content.split()|length }} § 6",
                "{{ messages[0].content.rsplit()|length }} § 6",
                "{{ messages[0].content.split(' ')|length }} § 6",
                "{{ ('{0} ' * 99999).format(1) }} § 190000",
                "{{ ('%% ' * 99999) % () }} § 190000"
            })
    void cost_of_text_is_its_length(String source, int least) {
        String text = render(source, turns(1, 1_000_000));
        assertTrue(text.length() >= least, text.length() + " characters");
    }

    @ParameterizedTest
    @CsvSource({"18446744073709551615, 2", "-9223372036854775809, 2", "99999999999999999999999999, 2"})
    void integers_beyond_64_bits_are_written(String number, int times) {
        JsonNode messages = StrictJson.parse(("[{\"maximum\": " + number + "}]").getBytes(StandardCharsets.UTF_8));
        String source =
                "{% set m = messages[0].maximum %}{{ m }} {{ m|tojson }} {{ m == m }} {{ m is integer }} {{ m|int }}"
                        + " {{ m > 9.0 or m < 9 }}";
        String text = ChatTemplate.parse(source, "test", TOKENS).render(Conversation.of(messages, NOW));
        assertEquals(number + " " + number + " True True " + number + " True", text);
    }
}
