package io.roseinfer.server.api;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Reads the stop conditions other than {@code max_tokens}. */
final class StopConditionReader {
    private static final String STOP_TOKENS = "stop_token_ids";
    private static final String SHOW_STOP = "include_stop_str_in_output";

    private final ModelSpec spec;
    private final Optional<Tokenizer> tokenizer;

    StopConditionReader(ModelSpec spec, Optional<Tokenizer> tokenizer) {
        this.spec = spec;
        this.tokenizer = tokenizer;
    }

    /** Returns the request with its stop conditions. */
    GenerationRequest read(Fields fields, GenerationRequest request) {
        List<String> strings = fields.strings("stop");
        if (!strings.isEmpty() && tokenizer.isEmpty()) {
            throw ApiError.badField("stop", "the model has no tokenizer, so it does not support stop strings");
        }
        int[] ids = tokens(fields);
        if (ids.length > 0 && fields.flag(SHOW_STOP)) {
            throw ApiError.badField(SHOW_STOP, SHOW_STOP + " cannot be combined with " + STOP_TOKENS);
        }
        GenerationRequest ending = request.withIgnoreEndOfText(fields.flag("ignore_eos"));
        GenerationRequest stopping = Fields.checked("stop", () -> ending.withStop(strings.toArray(String[]::new)));
        return Fields.checked(STOP_TOKENS, () -> stopping.withStopTokens(ids));
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

    /** Rejects ids outside the model's vocabulary, naming a field. */
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
