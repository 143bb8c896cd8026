package io.roseinfer.batch;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CallLimits;
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
 * Converts the bodies of a batch's lines to calls, and completions to lines of the output. They are those of the
 * server, except for what would differ between two runs of a batch. Ids and seeds derive from a line's key, all
 * responses have the same date, and none has durations. Thread-safe.
 */
public final class BatchModel {
    private static final String ID_PREFIX = "batch_req_";

    /** Start of an output line, before its key. */
    static final String LINE_PREFIX = "{\"id\":\"" + ID_PREFIX;

    private static final int OK = 200;

    private final CompletionReader completions;
    private final CompletionReader chats;
    private final long seed;
    private final long createdSeconds;

    /**
     * Creates a model for batches.
     *
     * @param maxRequestTokens maximum tokens of a prompt and its completion in the engine, as the server's default for chats
     * @param seed combined with a request's key, the seed of a request without one
     * @param created the date of all responses, and the current date for chat templates
     */
    public BatchModel(
            ServedModel model,
            ModelSpec spec,
            Optional<Tokenizer> tokenizer,
            int maxRequestTokens,
            long seed,
            Instant created) {
        CallLimits limits = CallLimits.NONE.withTokens(maxRequestTokens);
        ChatPrompts prompts = new ChatPrompts(model, tokenizer, InstantSource.fixed(created));
        this.completions = new CompletionReader(model, spec, tokenizer, limits);
        this.chats = new ChatReader(model, spec, tokenizer, limits, prompts);
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
     * Reads a line's body and encodes its prompts.
     *
     * @throws ApiError if the server would reject it, or would stream the response
     */
    public CompletionCall call(BatchLine.Request line) {
        Fields body = line.body();
        if (body.flag("stream")) {
            throw ApiError.badField("stream", "stream is true, which is not supported in a batch; remove it");
        }
        try {
            return reader(line).read(body).orSeed(line.key().seed(seed));
        } catch (RoseException failure) {
            throw ApiError.of(failure);
        }
    }

    /** Returns the error of a call that the engine rejects. */
    public ApiError refused(BatchLine.Request line, BadInput bad) {
        return reader(line).refused(bad);
    }

    /**
     * Returns the output line with the response to a request.
     *
     * @param done one completion per choice of the call, in order
     * @return UTF-8, with a newline
     */
    public byte[] response(BatchLine.Request line, CompletionCall call, List<Completion> done) {
        ObjectNode body =
                reader(line).json(line.key().toString(), createdSeconds, call).response(call, done);
        ObjectNode root = root(line);
        ObjectNode response = putResponse(root, line, OK, body);
        if (!call.ignored().isEmpty()) {
            call.ignored().forEach(response.putArray("ignored")::add);
        }
        root.putNull("error");
        return bytes(root);
    }

    /**
     * Returns the output line with an error. If the line is a request, {@code response} is the server's error response;
     * otherwise it is null, and the error has the number of the line.
     *
     * @return UTF-8, with a newline
     */
    public static byte[] refusal(BatchLine line, ApiError error) {
        ObjectNode root = root(line);
        ObjectNode shown = (ObjectNode) error.object().get("error");
        switch (line) {
            case BatchLine.Request request -> {
                ObjectNode unused = putResponse(root, request, error.status(), error.object());
            }
            case BatchLine.Bad bad -> {
                root.putNull("response");
                shown.put("line", bad.number());
            }
        }
        root.set("error", shown);
        return bytes(root);
    }

    private static ObjectNode root(BatchLine line) {
        return StrictJson.mapper()
                .createObjectNode()
                .put("id", ID_PREFIX + line.key())
                .put("custom_id", line.customId().orElse(null));
    }

    private static ObjectNode putResponse(ObjectNode root, BatchLine line, int status, ObjectNode body) {
        ObjectNode response = root.putObject("response")
                .put("status_code", status)
                .put("request_id", line.key().toString());
        response.set("body", body);
        return response;
    }

    private static byte[] bytes(ObjectNode root) {
        return (root + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
