package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
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
        BadInput.require(
                asked.minTokens() <= request.maxNewTokens(),
                "min_tokens",
                asked.minTokens(),
                "0 to max_new_tokens (" + request.maxNewTokens() + ")");
        if (asked.maxId() >= spec.vocabularySize()) {
            throw new BadInput("allowed_token_ids and logit_bias have token id " + asked.maxId()
                    + "; ids of this model are 0 to " + (spec.vocabularySize() - 1));
        }
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
