package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.TokenConstraints;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/** Reads the fields that limit the tokens of a completion: {@code min_tokens}, {@code logit_bias} and others. */
final class ConstraintReader {
    private static final String MIN_TOKENS = "min_tokens";
    private static final String ALLOWED = "allowed_token_ids";
    private static final String BIAS = "logit_bias";
    private static final String BAD_WORDS = "bad_words";

    private final StopConditionReader vocabulary;
    private final Optional<Tokenizer> tokenizer;

    ConstraintReader(StopConditionReader vocabulary, Optional<Tokenizer> tokenizer) {
        this.vocabulary = vocabulary;
        this.tokenizer = tokenizer;
    }

    /** Returns the request with its constraints. */
    GenerationRequest read(Fields fields, GenerationRequest request) {
        int minTokens = fields.integer(MIN_TOKENS, 0, 0, Integer.MAX_VALUE);
        if (minTokens > request.maxNewTokens()) {
            throw ApiError.badField(
                    MIN_TOKENS,
                    MIN_TOKENS + " is " + minTokens + "; it must be at most max_tokens (" + request.maxNewTokens()
                            + ")");
        }
        GenerationRequest minimal = request.withMinTokens(minTokens);
        GenerationRequest allowing = fields.find(ALLOWED)
                .map(list -> minimal.withAllowedTokens(allowed(list)))
                .orElse(minimal);
        GenerationRequest biased = fields.find(BIAS)
                .map(object -> Fields.checked(BIAS, () -> allowing.withLogitBias(biases(object))))
                .orElse(allowing);
        return fields.find(BAD_WORDS)
                .map(list -> Fields.checked(BAD_WORDS, () -> biased.withBadWords(words(list))))
                .orElse(biased);
    }

    private int[] allowed(JsonNode list) {
        if (!list.isArray() || list.isEmpty()) {
            throw Fields.wrong(ALLOWED, list, "a list of at least one token id");
        }
        int[] ids = Fields.ids(ALLOWED, list);
        vocabulary.requireInVocabulary(ALLOWED, ids);
        return ids;
    }

    private Map<Integer, Float> biases(JsonNode object) {
        if (!object.isObject()) {
            throw Fields.wrong(BIAS, object, "an object from token ids to numbers");
        }
        if (object.size() > TokenConstraints.MAX_BIASES) {
            throw ApiError.badField(
                    BIAS,
                    BIAS + " has " + object.size() + " ids; at most " + TokenConstraints.MAX_BIASES + " are allowed");
        }
        Map<Integer, Float> biases = new TreeMap<>();
        object.properties().forEach(entry -> {
            if (!entry.getValue().isNumber()) {
                throw Fields.wrong(BIAS, entry.getValue(), "an object from token ids to numbers");
            }
            int id = id(entry.getKey());
            vocabulary.requireInVocabulary(BIAS, id);
            biases.put(id, (float) entry.getValue().doubleValue());
        });
        return biases;
    }

    private static int id(String key) {
        try {
            return Integer.parseUnsignedInt(key);
        } catch (NumberFormatException notNumber) {
            throw ApiError.badField(BIAS, BIAS + " has the key " + Quoted.name(key) + "; keys must be token ids");
        }
    }

    private String[] words(JsonNode list) {
        if (!list.isArray()) {
            throw Fields.wrong(BAD_WORDS, list, "a list of texts");
        }
        if (!list.isEmpty() && tokenizer.isEmpty()) {
            throw ApiError.badField(BAD_WORDS, "the model has no tokenizer, so it does not support " + BAD_WORDS);
        }
        String[] words = new String[list.size()];
        int count = 0;
        for (JsonNode word : list) {
            if (!word.isString()) {
                throw Fields.wrong(BAD_WORDS, word, "a list of texts");
            }
            words[count++] = word.stringValue();
        }
        return words;
    }
}
