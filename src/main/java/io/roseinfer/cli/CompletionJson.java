package io.roseinfer.cli;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.GeneratedToken;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Formats a completion for {@code generate --json}: one object on one line, with {@code stop_string} only if one ended it. */
final class CompletionJson {
    private CompletionJson() {}

    static String line(Completion completion, boolean withLogprobs) {
        ObjectNode node = StrictJson.mapper().createObjectNode();
        ArrayNode promptIds = node.putArray("prompt_ids");
        for (int id : completion.promptIds()) {
            promptIds.add(id);
        }
        ArrayNode ids = node.putArray("ids");
        completion.tokens().forEach(token -> ids.add(token.id()));
        node.put("text", completion.text().orElse(null));
        node.put("finish_reason", completion.finishReason().text());
        completion.stopString().ifPresent(stop -> node.put("stop_string", stop));
        if (withLogprobs) {
            ArrayNode logprobs = node.putArray("logprobs");
            completion.tokens().forEach(token -> logprobs.add(token.logprob()));
            ArrayNode tops = node.putArray("top_logprobs");
            completion.tokens().forEach(token -> top(tops.addArray(), token));
        }
        return node + "\n";
    }

    private static void top(ArrayNode array, GeneratedToken token) {
        token.top().forEach(top -> array.addObject().put("id", top.id()).put("logprob", top.logprob()));
    }
}
