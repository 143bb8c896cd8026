package io.roseinfer.server.api;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.ChatPrompt;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.PromptToken;
import io.roseinfer.engine.ReplyReader;
import io.roseinfer.tokenizer.chat.reply.Reply;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Builds the objects of {@code /v1/chat/completions}: text is in a message, or in a stream's {@code delta}. */
sealed class ChatJson extends CompletionJson permits ResponsesJson {
    private static final String ROLE = "assistant";

    private final String id;
    private final TokenTexts texts;
    private final boolean stream;
    private int toolCalls;

    ChatJson(String id, long created, String model, TokenTexts texts, boolean stream) {
        super(id, created, model, texts);
        this.id = id + " " + created;
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

    @Override
    void split(ObjectNode choice, Completion completion, CompletionCall call) {
        int index = choice.get("index").intValue();
        Optional<ReplyStream> stream = replyStream(index, call);
        if (stream.isEmpty()) {
            return;
        }
        Reply reply = read(stream.get(), completion, call).takeReply();
        ObjectNode message = choice.putObject("message").put("role", ROLE);
        boolean isEmpty = reply.content().isEmpty()
                && !(reply.calls().isEmpty() && reply.reasoning().isEmpty());
        message.put(textField(), isEmpty ? null : reply.content()).putNull("refusal");
        if (!reply.reasoning().isEmpty()) {
            message.put("reasoning_content", reply.reasoning());
        }
        if (!reply.calls().isEmpty()) {
            IntFunction<String> ids = callIds(index, call);
            ArrayNode calls = message.putArray("tool_calls");
            for (Reply.Call one : reply.calls()) {
                putCall(calls.addObject(), ids.apply(calls.size() - 1), one.name(), one.arguments());
            }
            finishCalls(choice, completion);
        }
    }

    /** Returns the parts of a complete choice, whose tool calls are counted. */
    final ReplyStream read(ReplyStream parts, Completion completion, CompletionCall call) {
        completion.tokens().forEach(parts::accept);
        int shown = completion.tokens().stream()
                .mapToInt(token -> token.text().length())
                .sum();
        parts.end(text(completion, call).substring(shown));
        toolCalls += parts.toolCalls();
        return parts;
    }

    /** Sets the fields of a tool call. */
    static void putCall(ObjectNode call, String id, String name, String arguments) {
        call.put("id", id)
                .put("type", "function")
                .putObject("function")
                .put("name", name)
                .put("arguments", arguments);
    }

    @Override
    public int toolCalls() {
        return toolCalls;
    }

    @Override
    public Optional<ReplyStream> replyStream(int index, CompletionCall call) {
        return call.reply().isPlain() ? Optional.empty() : Optional.of(newReplyStream(index, call));
    }

    final ReplyStream newReplyStream(int index, CompletionCall call) {
        return new ReplyStream(ReplyReader.of(call.reply(), texts.tokenizer()), callIds(index, call));
    }

    /**
     * Returns the ids of a choice's tool calls by index. They depend on the request only, so that a repeated batch has
     * the same ids.
     */
    private IntFunction<String> callIds(int choice, CompletionCall call) {
        int prompt = Arrays.hashCode(call.prompts().get(choice / call.n()));
        return index -> ChatPrompt.callId(call.reply(), id + " " + prompt + " " + choice + " " + index);
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
        choice.putObject("logprobs").set("content", list(tokens, this::entry));
        return offset;
    }

    private ObjectNode entry(GeneratedToken token) {
        ObjectNode chosen = entry(token.id(), token.logprob());
        ArrayNode tops = chosen.putArray("top_logprobs");
        token.top().forEach(top -> tops.add(entry(top.id(), top.logprob())));
        return chosen;
    }

    @Override
    void promptLogprobs(ObjectNode response, ObjectNode choice, List<PromptToken> prompt, int tops) {
        if (!response.has("prompt_logprobs")) {
            promptLogprobs(response, prompt, tops);
        }
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
