package io.roseinfer.tokenizer.chat;

import java.time.LocalDateTime;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * The input of a chat template.
 *
 * @param messages a list of objects with {@code role}, {@code content} and other fields that the template uses
 * @param tools a list of functions that the model may call
 * @param addGenerationPrompt whether the prompt ends with the beginning of the model's reply ({@code add_generation_prompt})
 * @param more other variables of the template, such as {@code enable_thinking}
 * @param now the current time for the template
 */
public record Conversation(
        JsonNode messages,
        Optional<JsonNode> tools,
        boolean addGenerationPrompt,
        Map<String, JsonNode> more,
        LocalDateTime now) {

    public Conversation {
        Objects.requireNonNull(messages, "messages");
        Objects.requireNonNull(tools, "tools");
        more = Map.copyOf(more);
        Objects.requireNonNull(now, "now");
    }

    /** Returns a conversation of messages only, to be answered. */
    public static Conversation of(JsonNode messages, LocalDateTime now) {
        return new Conversation(messages, Optional.empty(), true, Map.of(), now);
    }

    /** Returns the same conversation with other messages. */
    public Conversation withMessages(JsonNode value) {
        return new Conversation(value, tools, addGenerationPrompt, more, now);
    }
}
