package io.roseinfer.tokenizer.chat;

import java.time.LocalDateTime;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * What a chat template makes a prompt of.
 *
 * @param messages a list of objects with {@code role}, {@code content} and whatever else the template knows
 * @param tools a list of functions that the model may call
 * @param beginAnswer whether the prompt ends with the beginning of the model's answer ({@code add_generation_prompt})
 * @param more other variables of the template, such as {@code enable_thinking}
 * @param now what a template takes for the time
 */
public record Conversation(
        JsonNode messages,
        Optional<JsonNode> tools,
        boolean beginAnswer,
        Map<String, JsonNode> more,
        LocalDateTime now) {

    public Conversation {
        Objects.requireNonNull(messages, "messages");
        Objects.requireNonNull(tools, "tools");
        more = Map.copyOf(more);
        Objects.requireNonNull(now, "now");
    }

    /** Messages alone, to be answered. */
    public static Conversation of(JsonNode messages, LocalDateTime now) {
        return new Conversation(messages, Optional.empty(), true, Map.of(), now);
    }

    /** Other messages in the same conversation. */
    public Conversation withMessages(JsonNode value) {
        return new Conversation(value, tools, beginAnswer, more, now);
    }
}
