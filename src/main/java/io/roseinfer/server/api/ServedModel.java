package io.roseinfer.server.api;

import io.roseinfer.engine.ChatFormat;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.reply.ReplyFormats;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The server's model settings.
 *
 * @param name the model's name in the API
 * @param chat the format of its conversations; without one it cannot chat
 * @param defaults of the fields that a request omits
 */
public record ServedModel(String name, Optional<ChatFormat> chat, SamplingDefaults defaults) {
    public ServedModel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(chat, "chat");
        Objects.requireNonNull(defaults, "defaults");
    }

    /** Returns a model that cannot chat. */
    public static ServedModel named(String name) {
        return new ServedModel(name, Optional.empty(), SamplingDefaults.NONE);
    }

    /** Returns the same model with a chat template, and the formats of replies recognized from it. */
    public ServedModel withChat(Optional<ChatTemplate> value) {
        return new ServedModel(name, value.map(ChatFormat::of), defaults);
    }

    /** Returns the same model with changed formats of replies, if it can chat. */
    public ServedModel withReplies(UnaryOperator<ReplyFormats> change) {
        return new ServedModel(
                name, chat.map(format -> new ChatFormat(format.template(), change.apply(format.replies()))), defaults);
    }

    public ServedModel withDefaults(SamplingDefaults value) {
        return new ServedModel(name, chat, value);
    }
}
