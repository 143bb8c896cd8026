package io.roseinfer.tokenizer.chat.reply;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.Conversation;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The formats of a model's replies, recognized from its chat template: it renders a probe conversation, and what
 * surrounds a probe's parts shows the format.
 *
 * @param calls the format of tool calls; {@code NONE} if it is not known
 * @param reasoning the format of the reasoning; {@code NONE} if there is none or it is not known
 */
public record ReplyFormats(ToolCallFormat calls, ReasoningFormat reasoning) {
    /** No formats. */
    public static final ReplyFormats NONE = new ReplyFormats(ToolCallFormat.NONE, ReasoningFormat.NONE);

    private static final String NAME = "probe_function";
    private static final String THOUGHT = "probe-thought";
    private static final String ARGUMENT = "probe-argument";
    private static final LocalDateTime NOW = LocalDateTime.of(2000, 1, 1, 0, 0);

    public ReplyFormats {
        Objects.requireNonNull(calls, "calls");
        Objects.requireNonNull(reasoning, "reasoning");
    }

    /** Returns the same formats without tool calls. */
    public ReplyFormats withoutCalls() {
        return new ReplyFormats(ToolCallFormat.NONE, reasoning);
    }

    /** Returns the formats of a template's model. */
    public static ReplyFormats of(ChatTemplate template) {
        return new ReplyFormats(calls(template), reasoning(template));
    }

    private static ToolCallFormat calls(ChatTemplate template) {
        ArrayNode messages = question();
        ObjectNode call = messages.addObject()
                .put("role", "assistant")
                .put("content", "")
                .putArray("tool_calls")
                .addObject()
                .put("id", "probe0000")
                .put("type", "function");
        call.putObject("function").put("name", NAME).putObject("arguments").put("probe", ARGUMENT);
        String text = render(template, messages, Optional.of(tools()), false, Map.of());
        int argument = text.indexOf(ARGUMENT);
        int name = argument < 0 ? -1 : text.lastIndexOf(NAME, argument);
        if (argument >= 0 && isArgumentsFirst(text.substring(0, argument))) {
            return ToolCallFormat.HERMES;
        }
        if (name >= 0) {
            return around(text.substring(0, name).stripTrailing(), text.substring(name + NAME.length(), argument));
        }
        // A template that does not write calls may describe them.
        boolean described = text.contains(NAME) && text.contains("<tool_call>") && text.contains("\"arguments\":");
        return described ? ToolCallFormat.HERMES : ToolCallFormat.NONE;
    }

    /** Returns whether a call's name follows its arguments, as in vLLM's template for Hermes; the name before them is then in the list of tools. */
    private static boolean isArgumentsFirst(String before) {
        return before.replaceAll("\\s", "").endsWith(ToolCallFormat.HERMES.trigger() + "{\"arguments\":{\"probe\":\"");
    }

    private static ToolCallFormat around(String before, String after) {
        String head = before.replaceAll("\\s", "");
        String next = after.replaceAll("\\s", "");
        if (head.endsWith("[") && next.startsWith("(probe=")) {
            return ToolCallFormat.PYTHONIC;
        }
        boolean isNamed = next.startsWith(NamedCall.ARGUMENTS + "{") || next.startsWith(NamedCall.ID);
        if (head.endsWith(ToolCallFormat.MISTRAL_ARGS.trigger()) && isNamed) {
            return ToolCallFormat.MISTRAL_ARGS;
        }
        if (!head.endsWith("{\"name\":\"")) {
            return ToolCallFormat.NONE;
        }
        String marker = head.substring(0, head.length() - "{\"name\":\"".length());
        boolean isArguments = next.startsWith("\",\"arguments\":{");
        if (marker.endsWith(ToolCallFormat.HERMES.trigger()) && isArguments) {
            return ToolCallFormat.HERMES;
        }
        if (marker.endsWith(ToolCallFormat.MISTRAL.trigger() + "[") && isArguments) {
            return ToolCallFormat.MISTRAL;
        }
        return next.startsWith("\",\"parameters\":{") ? ToolCallFormat.LLAMA3_JSON : ToolCallFormat.NONE;
    }

    private static ReasoningFormat reasoning(ChatTemplate template) {
        JsonNode no = StrictJson.mapper().getNodeFactory().booleanNode(false);
        ArrayNode question = question();
        String prompt = render(template, question, Optional.empty(), true, Map.of());
        String direct = render(template, question, Optional.empty(), true, Map.of("enable_thinking", no));
        ArrayNode answered = question();
        answered.addObject()
                .put("role", "assistant")
                .put("content", "<think>\n" + THOUGHT + "\n</think>\n\nanswer")
                .put("reasoning_content", THOUGHT);
        answered.addAll(question);
        String history = render(template, answered, Optional.empty(), true, Map.of());
        boolean removed = history.contains("answer") && !history.contains(THOUGHT);
        boolean marked = prompt.stripTrailing().endsWith(ReasoningFormat.BEGIN)
                || direct.stripTrailing().endsWith(ReasoningFormat.END);
        return marked || removed ? ReasoningFormat.QWEN3 : ReasoningFormat.NONE;
    }

    private static ArrayNode question() {
        ArrayNode messages = StrictJson.mapper().createArrayNode();
        messages.addObject().put("role", "user").put("content", "question");
        return messages;
    }

    private static ArrayNode tools() {
        ArrayNode tools = StrictJson.mapper().createArrayNode();
        ObjectNode function = tools.addObject().put("type", "function").putObject("function");
        function.put("name", NAME).put("description", "probe");
        ObjectNode parameters = function.putObject("parameters").put("type", "object");
        parameters
                .putObject("properties")
                .putObject("probe")
                .put("type", "string")
                .put("description", "probe");
        parameters.putArray("required").add("probe");
        return tools;
    }

    /** Returns the rendered conversation; empty if the template rejects it. */
    private static String render(
            ChatTemplate template,
            JsonNode messages,
            Optional<JsonNode> tools,
            boolean generation,
            Map<String, JsonNode> more) {
        try {
            return template.render(new Conversation(messages, tools, generation, more, NOW));
        } catch (BadInput rejected) {
            return "";
        }
    }
}
