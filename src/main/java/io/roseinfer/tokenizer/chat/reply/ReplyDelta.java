package io.roseinfer.tokenizer.chat.reply;

/** A part of a reply that is certain. */
public sealed interface ReplyDelta {
    /** More reasoning. */
    record Reasoning(String text) implements ReplyDelta {}

    /** More content. */
    record Content(String text) implements ReplyDelta {}

    /**
     * The start of a tool call.
     *
     * @param index 0 for the reply's first call
     */
    record CallStart(int index, String name) implements ReplyDelta {}

    /**
     * More of a call's arguments. All parts together are a JSON object, unless the reply ends within the call or the
     * call is malformed.
     *
     * @param index the index of the call, which has started
     */
    record CallArguments(int index, String text) implements ReplyDelta {}
}
