package io.roseinfer.server.api;

import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.reply.ReplyFormats;
import java.util.Objects;
import java.util.Optional;

/**
 * The server's model settings.
 *
 * @param name the model's name in the API
 * @param chat its chat template; without one it cannot chat
 * @param replies the formats of its tool calls and reasoning
 * @param defaults of the fields that a request omits
 */
public record ServedModel(String name, Optional<ChatTemplate> chat, ReplyFormats replies, SamplingDefaults defaults) {
    public ServedModel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(chat, "chat");
        Objects.requireNonNull(replies, "replies");
        Objects.requireNonNull(defaults, "defaults");
    }

    /** Returns a model that cannot chat. */
    public static ServedModel named(String name) {
        return new ServedModel(name, Optional.empty(), ReplyFormats.NONE, SamplingDefaults.NONE);
    }

    /** Returns the same model with a chat template, and the formats of replies recognized from it. */
    public ServedModel withChat(Optional<ChatTemplate> value) {
        return new ServedModel(name, value, value.map(ReplyFormats::of).orElse(ReplyFormats.NONE), defaults);
    }

    /** Returns the same model with other formats of replies than those recognized. */
    public ServedModel withReplies(ReplyFormats value) {
        return new ServedModel(name, chat, value, defaults);
    }

    public ServedModel withDefaults(SamplingDefaults value) {
        return new ServedModel(name, chat, replies, value);
    }
}
