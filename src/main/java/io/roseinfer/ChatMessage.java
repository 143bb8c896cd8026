package io.roseinfer;

import java.util.Objects;

/**
 * One message of a conversation; {@link LoadedModel#chatRequest} makes a request of some.
 *
 * @param role who says it: {@code system}, {@code user}, {@code assistant}, or another that the model's chat template knows
 * @param content what is said
 */
public record ChatMessage(String role, String content) {
    public ChatMessage {
        Objects.requireNonNull(role, "role");
        Objects.requireNonNull(content, "content");
    }

    /** What the model is told before a conversation. */
    public static ChatMessage system(String content) {
        return new ChatMessage("system", content);
    }

    /** What a user says. */
    public static ChatMessage user(String content) {
        return new ChatMessage("user", content);
    }

    /** What the model has answered. */
    public static ChatMessage assistant(String content) {
        return new ChatMessage("assistant", content);
    }
}
