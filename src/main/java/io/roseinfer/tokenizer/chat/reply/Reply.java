package io.roseinfer.tokenizer.chat.reply;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A complete reply.
 *
 * @param reasoning empty if there is none
 * @param content empty if there is none
 * @param calls in order
 */
public record Reply(String reasoning, String content, List<Call> calls) {
    /**
     * A tool call.
     *
     * @param arguments a JSON object, as the model wrote it; its start if the reply ends within the call or the call
     *     is malformed
     */
    public record Call(String name, String arguments) {
        public Call {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(arguments, "arguments");
        }
    }

    public Reply {
        Objects.requireNonNull(reasoning, "reasoning");
        Objects.requireNonNull(content, "content");
        calls = List.copyOf(calls);
    }

    /** Joins all deltas of a reply. */
    public static Reply of(List<ReplyDelta> deltas) {
        StringBuilder reasoning = new StringBuilder();
        StringBuilder content = new StringBuilder();
        List<String> names = new ArrayList<>();
        List<StringBuilder> arguments = new ArrayList<>();
        for (ReplyDelta delta : deltas) {
            switch (delta) {
                case ReplyDelta.Reasoning more -> reasoning.append(more.text());
                case ReplyDelta.Content more -> content.append(more.text());
                case ReplyDelta.CallStart call -> {
                    names.add(call.name());
                    arguments.add(new StringBuilder());
                }
                case ReplyDelta.CallArguments more ->
                    arguments.get(more.index()).append(more.text());
            }
        }
        List<Call> calls = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            calls.add(new Call(names.get(i), arguments.get(i).toString()));
        }
        return new Reply(reasoning.toString(), content.toString(), calls);
    }
}
