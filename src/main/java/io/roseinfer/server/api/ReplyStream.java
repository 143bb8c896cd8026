package io.roseinfer.server.api;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.tokenizer.chat.reply.Reply;
import io.roseinfer.tokenizer.chat.reply.ReplyDelta;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import io.roseinfer.tokenizer.chat.reply.ReplyParser;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import tools.jackson.databind.node.ObjectNode;

/** Converts the tokens of one choice to the parts of its message, as {@code delta} objects or as a whole. Not thread-safe. */
public final class ReplyStream {
    private final ReplyParser parser;
    private final Map<Integer, String> markers;
    private final IntFunction<String> callIds;

    /**
     * Creates a stream.
     *
     * @param markers the texts of special tokens that mark parts of the reply, by id
     * @param callIds returns the id of a call by its index
     */
    ReplyStream(ReplyFormat format, Map<Integer, String> markers, IntFunction<String> callIds) {
        this.parser = new ReplyParser(format);
        this.markers = markers;
        this.callIds = callIds;
    }

    /** Takes the next token. */
    public void accept(GeneratedToken token) {
        parser.accept(markers.getOrDefault(token.id(), ""));
        parser.accept(token.text());
    }

    /** Takes the text after the last token, and ends the choice. */
    public void end(String rest) {
        parser.accept(rest);
        parser.end();
    }

    /** Returns whether a tool call has started. */
    public boolean hasCalls() {
        return parser.hasCalls();
    }

    /** Returns the number of complete tool calls. */
    public int toolCalls() {
        return parser.calls();
    }

    /** Returns the parts since the last call. */
    Reply takeReply() {
        return Reply.of(parser.take());
    }

    /** Returns the objects since the last call. Each has one part, because some clients read only the first. */
    public List<ObjectNode> takeDeltas() {
        return parser.take().stream().map(this::object).toList();
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
