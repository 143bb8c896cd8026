package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Prompt;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.Conversation;
import java.time.InstantSource;
import java.time.LocalDateTime;
import java.time.ZoneId;
import tools.jackson.databind.node.ArrayNode;

/** Renders conversations to prompts by a model's chat template. */
record PromptRenderer(ChatTemplate template, Tokenizer tokenizer, InstantSource time) {
    /**
     * Returns the renderer of a model.
     *
     * @throws BadInput if it has no chat template or no tokenizer
     */
    static PromptRenderer of(LoadedModel model, InstantSource time) {
        ChatTemplate template = model.chat()
                .orElseThrow(
                        () -> new BadInput(
                                "--model " + model.spec().name()
                                        + " has no usable chat template; complete text with roseinfer generate, or chat with --model builtin:chat"));
        return new PromptRenderer(template, TextPrompts.tokenizer(model), time);
    }

    /** Renders a conversation that ends with a user message. */
    Prompt.Tokens of(ArrayNode messages) {
        LocalDateTime now = LocalDateTime.ofInstant(time.instant(), ZoneId.systemDefault());
        return new Prompt.Tokens(tokenizer.encode(template.render(Conversation.of(messages, now))));
    }

    /** Renders a single user message. */
    Prompt.Tokens of(String text) {
        ArrayNode messages = StrictJson.mapper().createArrayNode();
        messages.addObject().put("role", "user").put("content", text);
        return of(messages);
    }
}
