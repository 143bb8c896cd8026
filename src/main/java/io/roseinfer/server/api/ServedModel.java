package io.roseinfer.server.api;

import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.util.Objects;
import java.util.Optional;

/**
 * The server's model settings.
 *
 * @param name the model's name in the API
 * @param chat its chat template; without one it cannot chat
 * @param defaults of the fields that a request omits
 */
public record ServedModel(String name, Optional<ChatTemplate> chat, SamplingDefaults defaults) {
    public ServedModel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(chat, "chat");
        Objects.requireNonNull(defaults, "defaults");
    }

    /** Returns a model that cannot chat. */
    public static ServedModel named(String name) {
        return new ServedModel(name, Optional.empty(), SamplingDefaults.NONE);
    }

    public ServedModel withChat(Optional<ChatTemplate> value) {
        return new ServedModel(name, value, defaults);
    }

    public ServedModel withDefaults(SamplingDefaults value) {
        return new ServedModel(name, chat, value);
    }
}
