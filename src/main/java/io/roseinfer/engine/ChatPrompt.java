package io.roseinfer.engine;

import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.reply.Reply;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/** A conversation as a prompt: the request for a reply, and the format of the reply. Immutable. */
public final class ChatPrompt {
    private final GenerationRequest request;
    private final ReplyFormat format;
    private final Tokenizer tokenizer;

    /**
     * Creates a prompt.
     *
     * @param request its prompt is the conversation
     * @param format the format of replies to that prompt
     */
    public ChatPrompt(GenerationRequest request, ReplyFormat format, Tokenizer tokenizer) {
        this.request = Objects.requireNonNull(request, "request");
        this.format = Objects.requireNonNull(format, "format");
        this.tokenizer = Objects.requireNonNull(tokenizer, "tokenizer");
    }

    /**
     * Returns the request, to be submitted with or without changes. If calls are enforced it has a grammar, and no other
     * can be set.
     */
    public GenerationRequest request() {
        return request;
    }

    /**
     * Returns the reply in a completion of the request, to be appended to the conversation. A call that is not valid is
     * part of the content. Ids of calls depend on the prompt only, so that repeated requests have equal replies.
     */
    public ChatMessage reply(Completion completion) {
        Objects.requireNonNull(completion, "completion");
        ReplyReader reader = reader();
        completion.tokens().forEach(reader::accept);
        reader.end(completion);
        Reply reply = Reply.of(reader.take());
        String prompt = Integer.toString(Arrays.hashCode(completion.promptIds()));
        List<ToolCall> calls = new ArrayList<>();
        for (Reply.Call call : reply.calls()) {
            calls.add(new ToolCall(callId(format, prompt + " " + calls.size()), call.name(), call.arguments()));
        }
        return new ChatMessage("assistant", reply.content(), reply.reasoning(), calls, "");
    }

    /**
     * Returns the id of a call in a format: a hash of a name, which is different for each call of a conversation.
     */
    public static String callId(ReplyFormat format, String name) {
        Objects.requireNonNull(format, "format");
        Objects.requireNonNull(name, "name");
        UUID hash = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
        return format.calls().id(hash.toString().replace("-", ""));
    }

    /** Returns a reader of a reply that is streamed. */
    public ReplyReader reader() {
        return ReplyReader.of(format, Optional.of(tokenizer));
    }
}
