package io.roseinfer.server.api;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.GeneratedToken;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Builds the objects of {@code /v1/chat/completions}: text is in a message, or in a stream's {@code delta}. */
final class ChatJson extends CompletionJson {
    private static final String ROLE = "assistant";

    private final TokenTexts texts;
    private final boolean stream;

    ChatJson(String id, long created, String model, TokenTexts texts, boolean stream) {
        super(id, created, model, texts);
        this.texts = texts;
        this.stream = stream;
    }

    @Override
    String object() {
        return stream ? "chat.completion.chunk" : "chat.completion";
    }

    @Override
    public void putText(ObjectNode choice, String text) {
        if (stream) {
            choice.putObject("delta").put(textField(), text);
        } else {
            choice.putObject("message").put("role", ROLE).put(textField(), text).putNull("refusal");
        }
    }

    @Override
    public String text(ObjectNode choice) {
        return choice.get(stream ? "delta" : "message").get(textField()).stringValue();
    }

    @Override
    public String textField() {
        return "content";
    }

    /** Returns an event with the role, which OpenAI's clients expect first. */
    @Override
    public Optional<ObjectNode> opening(int index) {
        ObjectNode event = envelope();
        ObjectNode choice = addChoice(event, index, "");
        choice.putObject("delta").put("role", ROLE).put(textField(), "");
        return Optional.of(event);
    }

    @Override
    public int logprobs(ObjectNode choice, List<GeneratedToken> tokens, int offset) {
        ArrayNode content = choice.putObject("logprobs").putArray("content");
        for (GeneratedToken token : tokens) {
            ObjectNode chosen = entry(token.id(), token.logprob());
            ArrayNode tops = chosen.putArray("top_logprobs");
            token.top().forEach(top -> tops.add(entry(top.id(), top.logprob())));
            content.add(chosen);
        }
        return offset;
    }

    private ObjectNode entry(int id, float logprob) {
        ObjectNode entry =
                StrictJson.mapper().createObjectNode().put("token", text(id)).put("logprob", finite(logprob));
        byte[] bytes = texts.bytes(id);
        ArrayNode list = entry.putArray("bytes");
        for (byte one : bytes) {
            list.add(Byte.toUnsignedInt(one));
        }
        return entry;
    }
}
