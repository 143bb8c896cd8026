package io.roseinfer.server.api;

import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.util.Objects;
import java.util.Optional;

/**
 * What a server knows of its model beside the engine.
 *
 * @param name what clients call it
 * @param chat how it wants conversations written; without one there is no chat
 * @param defaults for the fields that a request leaves out
 */
public record ServedModel(String name, Optional<ChatTemplate> chat, SamplingDefaults defaults) {
    public ServedModel {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(chat, "chat");
        Objects.requireNonNull(defaults, "defaults");
    }

    /** A model that cannot chat. */
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
