package io.roseinfer.engine;

import java.util.List;
import java.util.Objects;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One message of a conversation; {@link Engine#chatPrompt} makes a request from a list of them.
 *
 * @param role the author: {@code system}, {@code user}, {@code assistant}, {@code tool}, or another role of the model's
 *     chat template
 * @param content the text
 * @param reasoning the model's reasoning before the text; empty if there is none
 * @param toolCalls the model's tool calls
 * @param toolCallId the id of the call whose result this is; empty if it is none
 */
public record ChatMessage(String role, String content, String reasoning, List<ToolCall> toolCalls, String toolCallId) {
    public ChatMessage {
        Objects.requireNonNull(role, "role");
        Objects.requireNonNull(content, "content");
        Objects.requireNonNull(reasoning, "reasoning");
        toolCalls = List.copyOf(Objects.requireNonNull(toolCalls, "toolCalls"));
        Objects.requireNonNull(toolCallId, "toolCallId");
    }

    /** Creates a message of text only. */
    public ChatMessage(String role, String content) {
        this(role, content, "", List.of(), "");
    }

    /** Returns a system prompt. */
    public static ChatMessage system(String content) {
        return new ChatMessage("system", content);
    }

    /** Returns a user message. */
    public static ChatMessage user(String content) {
        return new ChatMessage("user", content);
    }

    /** Returns an earlier reply of the model. */
    public static ChatMessage assistant(String content) {
        return new ChatMessage("assistant", content);
    }

    /** Returns the result of a call, as text or JSON. */
    public static ChatMessage tool(ToolCall call, String content) {
        return new ChatMessage(
                "tool",
                content,
                "",
                List.of(),
                Objects.requireNonNull(call, "call").id());
    }

    /** Adds the message in OpenAI's format, with the arguments of calls as objects. */
    void addTo(ArrayNode messages) {
        ObjectNode message = messages.addObject().put("role", role).put("content", content);
        if (!reasoning.isEmpty()) {
            message.put("reasoning_content", reasoning);
        }
        if (!toolCallId.isEmpty()) {
            message.put("tool_call_id", toolCallId);
        }
        if (!toolCalls.isEmpty()) {
            ArrayNode calls = message.putArray("tool_calls");
            for (ToolCall call : toolCalls) {
                ObjectNode node = calls.addObject().put("id", call.id()).put("type", "function");
                node.putObject("function").put("name", call.name()).put("arguments", call.arguments());
                ChatFormat.parseArguments(node);
            }
        }
    }
}
