package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.sampling.TokenConstraints;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Resolves a request's constraints for a model: stop tokens, and the tokens of bad words. */
final class RequestConstraints {
    private RequestConstraints() {}

    /**
     * Returns the constraints of a request's samples.
     *
     * @throws BadInput if they contradict each other, the vocabulary or the maximum of new tokens
     */
    static LogitConstraints of(GenerationRequest request, ModelSpec spec, Optional<Tokenizer> tokenizer) {
        TokenConstraints asked = request.constraints();
        if (asked.equals(TokenConstraints.NONE)) {
            return LogitConstraints.NONE;
        }
        if (asked.minTokens() > request.maxNewTokens()) {
            throw BadInput.of(
                    "min_tokens",
                    asked.minTokens(),
                    Remedy.of("it must be 0 to %s (" + request.maxNewTokens() + ")", "max_new_tokens"));
        }
        asked.allowedTokens().forEach(id -> requireId("allowed_token_ids", id, spec));
        asked.logitBias().keySet().forEach(id -> requireId("logit_bias", id, spec));
        int[] stops = Stream.concat(spec.endOfText().stream(), request.stopTokens().stream())
                .mapToInt(Integer::intValue)
                .filter(id -> id < spec.vocabularySize())
                .distinct()
                .toArray();
        List<int[]> words = new ArrayList<>();
        asked.badWords().forEach(word -> addWord(word, tokenizer.orElseThrow(), words));
        LogitConstraints constraints = new LogitConstraints(asked, spec.vocabularySize(), stops, words);
        BadInput.require(
                constraints.maxBiases() <= StepInputs.MAX_BIASES,
                "number of biased and forbidden tokens",
                constraints.maxBiases(),
                "at most " + StepInputs.MAX_BIASES);
        return constraints;
    }

    private static void requireId(String field, int id, ModelSpec spec) {
        if (id >= spec.vocabularySize()) {
            throw new BadInput(
                    field + " has token id " + id + "; ids of this model are 0 to " + (spec.vocabularySize() - 1));
        }
    }

    /**
     * Adds the tokens of a word at the start of a text, and those after a space if they differ from the first token on and are as many, as
     * vLLM does.
     */
    private static void addWord(String word, Tokenizer tokenizer, List<int[]> words) {
        int[] first = tokenizer.encode(word.stripLeading());
        int[] spaced = tokenizer.encode(" " + word.stripLeading());
        words.add(first);
        if (spaced.length == first.length && spaced[0] != first[0]) {
            words.add(spaced);
        }
    }
}
