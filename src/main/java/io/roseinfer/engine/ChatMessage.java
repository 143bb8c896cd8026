package io.roseinfer.engine;

import java.util.Objects;

/**
 * One message of a conversation; {@link Engine#chatRequest} makes a request from a list of them.
 *
 * @param role the author: {@code system}, {@code user}, {@code assistant}, or another role of the model's chat template
 * @param content the text
 */
public record ChatMessage(String role, String content) {
    public ChatMessage {
        Objects.requireNonNull(role, "role");
        Objects.requireNonNull(content, "content");
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
}
