package io.roseinfer.tokenizer.chat.reply;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.Conversation;
import io.roseinfer.tokenizer.chat.reply.Reply.Call;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Formats are recognized from templates, and what a template writes is parsed back. */
class ReplyFormatsTest {
    private static final JsonNode TOOLS = json("""
            [{"type": "function", "function": {"name": "get_weather", "description": "The weather",
              "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}}]""");

    /** Arguments that need care: empty, nested, escaped, and with the markers of calls. */
    private static final List<String> ARGUMENTS = List.of(
            "{}",
            "{\"place\": \"Zürich\", \"days\": 2}",
            "{\"deep\": {\"list\": [1, [2.5, null], {\"a\": true}], \"empty\": {}}}",
            "{\"text\": \"a \\\"quote\\\", a \\\\ and\\nlines\"}",
            "{\"text\": \"</tool_call> <tool_call> [TOOL_CALLS] ; }] 😀\"}");

    private static JsonNode json(String text) {
        return StrictJson.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ChatTemplate template(String name) throws IOException {
        String source = Files.readString(Path.of("src/test/resources/chat/templates/" + name + ".jinja"));
        return ChatTemplate.parse(source, name, Map.of("bos_token", "<s>", "eos_token", "</s>"));
    }

    @ParameterizedTest
    @CsvSource({
        "alternating-turns, NONE, NONE",
        "bracketed-turns, MISTRAL, NONE",
        "header-turns, LLAMA3_JSON, NONE",
        "pythonic, PYTHONIC, NONE",
        "qwen2.5, HERMES, NONE",
        "qwen3, HERMES, QWEN3",
        "smollm2, NONE, NONE",
        "smollm3, HERMES, QWEN3",
        "tool-use, HERMES, NONE"
    })
    void formats_are_recognized(String name, ToolCallFormat calls, ReasoningFormat reasoning) throws IOException {
        assertThat(ReplyFormats.of(template(name))).isEqualTo(new ReplyFormats(calls, reasoning));
    }

    @Test
    void calls_of_an_unknown_form_are_not_recognized() {
        String source = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}"
                + "<call>{{ c.function.name }}: {{ c.function.arguments | tojson }}</call>{% endfor %}{% endfor %}{{ tools }}";
        assertThat(ReplyFormats.of(ChatTemplate.parse(source, "test", Map.of())))
                .isEqualTo(ReplyFormats.NONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"[ARGS]", "[CALL_ID]' + c.id + '[ARGS]"})
    void calls_of_newer_mistral_models_are_recognized_and_parsed_back(String middle) {
        String source = "{% for m in messages %}{{ m.content }}{% if m.role == 'user' %}[/INST]{% endif %}"
                + "{% for c in m.tool_calls %}{{ '[TOOL_CALLS]' + c.function.name + '" + middle
                + "' + c.function.arguments | tojson }}{% endfor %}"
                + "{% if m.role == 'assistant' %}</s>{% endif %}{% endfor %}";
        ChatTemplate template = ChatTemplate.parse(source, "test", Map.of());
        ReplyFormats formats = ReplyFormats.of(template);
        assertThat(formats.calls()).isEqualTo(ToolCallFormat.MISTRAL_ARGS);
        for (String arguments : ARGUMENTS) {
            Call call = new Call("get_weather", arguments);
            assertRoundTrip(template, formats, "</s>", "Let me look.", List.of(call));
            assertRoundTrip(
                    template, formats, "</s>", "", List.of(call, new Call("get_weather", "{\"place\": \"Bern\"}")));
        }
    }

    @Test
    void calls_with_the_name_after_the_arguments_are_recognized_and_parsed_back() {
        String source =
                "{{ tools | tojson }}{% for m in messages %}<|im_start|>{{ m.role + '\n' + m.content }}{% for c in m.tool_calls %}"
                        + "{{ '<tool_call>\n{ \"arguments\": ' + c.function.arguments | tojson"
                        + " + ', \"name\": \"' + c.function.name + '\"}\n</tool_call>\n' }}{% endfor %}<|im_end|>{% endfor %}"
                        + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
        ChatTemplate template = ChatTemplate.parse(source, "test", Map.of());
        ReplyFormats formats = ReplyFormats.of(template);
        assertThat(formats.calls()).isEqualTo(ToolCallFormat.HERMES);
        for (String arguments : ARGUMENTS) {
            Call call = new Call("get_weather", arguments);
            assertRoundTrip(template, formats, "<|im_end|>", "", List.of(call, call));
        }
    }

    @Test
    void template_that_begins_the_reasoning_is_recognized() {
        String source =
                "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}<think>\n{% endif %}";
        assertThat(ReplyFormats.of(ChatTemplate.parse(source, "test", Map.of())).reasoning())
                .isEqualTo(ReasoningFormat.QWEN3);
    }

    private static String render(ChatTemplate template, JsonNode messages, boolean generation) {
        LocalDateTime now = LocalDateTime.of(2026, 11, 26, 8, 0);
        return template.render(new Conversation(messages, Optional.of(TOOLS), generation, Map.of(), now));
    }

    private static ArrayNode question() {
        ArrayNode messages = StrictJson.mapper().createArrayNode();
        messages.addObject().put("role", "user").put("content", "What is the weather?");
        return messages;
    }

    /** The calls of several replies: one, and two at once where the template allows them. */
    @ParameterizedTest
    @CsvSource({
        "bracketed-turns, </s>, true, false",
        "header-turns, <|end|>, false, false",
        "qwen2.5, <|im_end|>, true, true",
        "qwen3, <|im_end|>, true, true",
        "smollm3, <|im_end|>, true, true",
        "tool-use, <|im_end|>, true, false"
    })
    void written_calls_are_parsed_back(String name, String end, boolean parallel, boolean text) throws IOException {
        ChatTemplate template = template(name);
        ReplyFormats formats = ReplyFormats.of(template);
        for (String arguments : ARGUMENTS) {
            List<Call> calls = new ArrayList<>(List.of(new Call("get_weather", arguments)));
            assertRoundTrip(template, formats, end, text ? "Let me look." : "", calls);
            calls.add(new Call("get_weather", "{\"place\": \"Bern\"}"));
            if (parallel) {
                assertRoundTrip(template, formats, end, "", calls);
            }
        }
    }

    private static void assertRoundTrip(
            ChatTemplate template, ReplyFormats formats, String end, String content, List<Call> calls) {
        ArrayNode messages = question();
        String prompt = render(template, messages, true);
        ObjectNode answer = messages.addObject().put("role", "assistant").put("content", content);
        ArrayNode list = answer.putArray("tool_calls");
        for (Call call : calls) {
            list.addObject()
                    .put("id", "abcdefghi")
                    .put("type", "function")
                    .putObject("function")
                    .put("name", call.name())
                    .set("arguments", json(call.arguments()));
        }
        String whole = render(template, messages, false);
        if (whole.indexOf("get_weather", prompt.length()) < 0) {
            String written = formats.calls().text(list).orElseThrow();
            answer.without("tool_calls").put("content", content.isEmpty() ? written : content + "\n" + written);
            whole = render(template, messages, false);
        }
        assertThat(whole).startsWith(prompt);
        String reply = whole.substring(prompt.length(), whole.indexOf(end, prompt.length()));
        Reply parsed = ReplyParserTest.atEveryCut(ReplyFormat.of(formats).after(prompt), reply);
        assertThat(parsed.content()).as(reply).isEqualTo(content);
        assertThat(parsed.reasoning()).isEmpty();
        assertThat(parsed.calls()).as(reply).isEqualTo(calls);
    }
}
