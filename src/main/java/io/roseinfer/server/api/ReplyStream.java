package io.roseinfer.server.api;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.ReplyReader;
import io.roseinfer.tokenizer.chat.reply.Reply;
import io.roseinfer.tokenizer.chat.reply.ReplyDelta;
import java.util.List;
import java.util.function.IntFunction;
import tools.jackson.databind.node.ObjectNode;

/** Converts the tokens of one choice to the parts of its message, as {@code delta} objects or as a whole. Not thread-safe. */
public final class ReplyStream {
    private final ReplyReader reader;
    private final IntFunction<String> callIds;

    /**
     * Creates a stream.
     *
     * @param callIds returns the id of a call by its index
     */
    ReplyStream(ReplyReader reader, IntFunction<String> callIds) {
        this.reader = reader;
        this.callIds = callIds;
    }

    /** Takes the next token. */
    public void accept(GeneratedToken token) {
        reader.accept(token);
    }

    /** Takes the text after the last token, and ends the choice. */
    public void end(String rest) {
        reader.end(rest);
    }

    /** Returns whether a tool call has started. */
    public boolean hasCalls() {
        return reader.hasCalls();
    }

    /** Returns the number of complete tool calls. */
    public int toolCalls() {
        return reader.calls();
    }

    /** Returns the number of tokens that the reasoning took. */
    int reasoningTokens() {
        return reader.reasoningTokens();
    }

    /** Returns the parts since the last call. */
    Reply takeReply() {
        return Reply.of(reader.take());
    }

    /** Returns the objects since the last call. Each has one part, because some clients read only the first. */
    public List<ObjectNode> takeDeltas() {
        return reader.take().stream().map(this::object).toList();
    }

    private ObjectNode object(ReplyDelta delta) {
        ObjectNode object = StrictJson.mapper().createObjectNode();
        switch (delta) {
            case ReplyDelta.Reasoning more -> object.put("reasoning_content", more.text());
            case ReplyDelta.Content more -> object.put("content", more.text());
            case ReplyDelta.CallStart call ->
                ChatJson.putCall(
                        object.putArray("tool_calls").addObject().put("index", call.index()),
                        callIds.apply(call.index()),
                        call.name(),
                        "");
            case ReplyDelta.CallArguments more ->
                object.putArray("tool_calls")
                        .addObject()
                        .put("index", more.index())
                        .putObject("function")
                        .put("arguments", more.text());
        }
        return object;
    }
}
