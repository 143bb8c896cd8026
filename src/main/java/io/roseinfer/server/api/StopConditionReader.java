package io.roseinfer.server.api;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Reads the fields that say what ends a completion before its greatest length. */
final class StopConditionReader {
    private static final String STOP_TOKENS = "stop_token_ids";
    private static final String LEAST = "min_tokens";
    private static final String SHOW_STOP = "include_stop_str_in_output";

    private final ModelSpec spec;
    private final Optional<Tokenizer> tokenizer;

    StopConditionReader(ModelSpec spec, Optional<Tokenizer> tokenizer) {
        this.spec = spec;
        this.tokenizer = tokenizer;
    }

    /** The request with its ends. */
    GenerationRequest read(Fields fields, GenerationRequest request) {
        List<String> strings = fields.strings("stop");
        if (!strings.isEmpty() && tokenizer.isEmpty()) {
            throw ApiError.badField("stop", "the model has no tokenizer, so stop strings cannot be found");
        }
        int[] ids = tokens(fields);
        if (ids.length > 0 && fields.flag(SHOW_STOP)) {
            throw ApiError.badField(SHOW_STOP, SHOW_STOP + " cannot be had with " + STOP_TOKENS);
        }
        GenerationRequest ending = request.withIgnoreEndOfText(fields.flag("ignore_eos"));
        GenerationRequest stopping = Fields.checked("stop", () -> ending.withStop(strings.toArray(String[]::new)));
        GenerationRequest all = Fields.checked(STOP_TOKENS, () -> stopping.withStopTokens(ids));
        requireLeast(fields, all);
        return all;
    }

    private int[] tokens(Fields fields) {
        JsonNode list = fields.find(STOP_TOKENS).orElse(StrictJson.mapper().createArrayNode());
        if (!list.isArray()) {
            throw Fields.wrong(STOP_TOKENS, list, "a list of token ids");
        }
        int[] ids = Fields.ids(STOP_TOKENS, list);
        requireInVocabulary(STOP_TOKENS, ids);
        return ids;
    }

    /**
     * Refuses a least length unless nothing can end the completion before it: elsewhere the tokens that would end it must not be
     * sampled, and no device here can leave tokens out.
     */
    private static void requireLeast(Fields fields, GenerationRequest request) {
        int least = fields.integer(LEAST, 0, 0, Integer.MAX_VALUE);
        if (least > request.maxNewTokens()) {
            throw ApiError.badField(
                    LEAST, LEAST + " is " + least + "; it must be at most max_tokens, " + request.maxNewTokens());
        }
        boolean endsAnywhere = !request.ignoreEndOfText()
                || !request.stop().isEmpty()
                || !request.stopTokens().isEmpty();
        if (least > 0 && endsAnywhere) {
            throw ApiError.badField(
                    LEAST,
                    LEAST
                            + " is served only where max_tokens alone ends the completion: with ignore_eos, and without stop"
                            + " and " + STOP_TOKENS);
        }
    }

    /** Refuses ids that the model has no token for, in a field's name. */
    void requireInVocabulary(String field, int... ids) {
        for (int id : ids) {
            if (id >= spec.vocabularySize()) {
                throw ApiError.badField(
                        field,
                        field + " has token id " + id + "; ids of this model are 0 to " + (spec.vocabularySize() - 1));
            }
        }
    }
}
