package io.roseinfer.batch;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.ChatPrompts;
import io.roseinfer.server.api.ChatReader;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.server.api.CompletionReader;
import io.roseinfer.server.api.Fields;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * A model as the lines of a batch see it: their bodies to calls, and completions to lines of the output. Calls and answers are those of the
 * server, but for what would make two runs of one batch differ: ids and seeds come from a line's key, all answers have one date, and
 * none tells how long it took. Any thread may use it.
 */
public final class BatchModel {
    private static final String ID_PREFIX = "batch_req_";

    /** What a line of the output begins with, in front of its key. */
    static final String LINE_PREFIX = "{\"id\":\"" + ID_PREFIX;

    private static final int OK = 200;

    private final CompletionReader completions;
    private final CompletionReader chats;
    private final long seed;
    private final long createdSeconds;

    /**
     * A model for batches.
     *
     * @param seed of requests that have none, together with their key
     * @param created the date of all answers, and the one that a chat template is told
     */
    public BatchModel(ServedModel model, ModelSpec spec, Optional<Tokenizer> tokenizer, long seed, Instant created) {
        ChatPrompts prompts = new ChatPrompts(model.chat(), tokenizer, InstantSource.fixed(created));
        this.completions = new CompletionReader(model, spec, tokenizer, Optional.empty());
        this.chats = new ChatReader(model, spec, tokenizer, Optional.empty(), spec.contextLength(), prompts);
        this.seed = seed;
        this.createdSeconds = created.getEpochSecond();
    }

    private CompletionReader reader(BatchLine.Request line) {
        return switch (line.route()) {
            case COMPLETIONS -> completions;
            case CHAT -> chats;
        };
    }

    /**
     * Reads a line's body, to the token ids of its prompts.
     *
     * @throws ApiError if the server would refuse it, or would stream the answer
     */
    public CompletionCall call(BatchLine.Request line) {
        Fields body = line.body();
        if (body.flag("stream")) {
            throw ApiError.badField("stream", "stream is true; in a batch an answer is one line, so leave it out");
        }
        try {
            return reader(line).read(body).orSeed(line.key().seed(seed));
        } catch (RoseException failure) {
            throw ApiError.of(failure);
        }
    }

    /** The error of a call that the engine refuses. */
    public ApiError refused(BatchLine.Request line, BadInput bad) {
        return reader(line).refused(bad);
    }

    /**
     * The line of the output that answers a request.
     *
     * @param done one for each choice of the call, in their order
     * @return UTF-8, with a newline
     */
    public byte[] answer(BatchLine.Request line, CompletionCall call, List<Completion> done) {
        ObjectNode body = reader(line)
                .json(line.key().toString(), createdSeconds, call.output())
                .whole(call, done);
        ObjectNode root = root(line);
        putResponse(root, line, OK, body);
        root.putNull("error");
        return bytes(root);
    }

    /**
     * The line of the output that refuses a line: {@code error} is the server's error object. If the line is a request,
     * {@code response} is what the server would have answered; otherwise that is null.
     *
     * @return UTF-8, with a newline
     */
    public static byte[] refusal(BatchLine line, ApiError error) {
        ObjectNode root = root(line);
        if (line instanceof BatchLine.Request) {
            putResponse(root, line, error.status(), error.object());
        } else {
            root.putNull("response");
        }
        root.set("error", error.object().get("error"));
        return bytes(root);
    }

    private static ObjectNode root(BatchLine line) {
        return StrictJson.mapper()
                .createObjectNode()
                .put("id", ID_PREFIX + line.key())
                .put("custom_id", line.customId().orElse(null));
    }

    private static void putResponse(ObjectNode root, BatchLine line, int status, ObjectNode body) {
        root.putObject("response")
                .put("status_code", status)
                .put("request_id", line.key().toString())
                .set("body", body);
    }

    private static byte[] bytes(ObjectNode root) {
        return (root + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
