package io.roseinfer.sampling;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.grammar.Grammar;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Limits on the tokens of a completion, with vLLM's names and semantics. Immutable; {@code with…} methods return modified copies. Ids are
 * checked against the vocabulary when the request is submitted.
 *
 * @param minTokens tokens before which the model's end-of-text tokens and the request's stop tokens are not sampled, and stop strings are not
 *     searched; at most the maximum number of new tokens
 * @param allowedTokens the only token ids that are sampled; empty allows all
 * @param logitBias value added to the logit of each of these token ids, -100 to 100; at most {@value #MAX_BIASES} ids
 * @param badWords texts whose tokens are not generated: the last token of a text is not sampled after its others; with and without a space
 *     before the text. Other tokens may spell the same text, as under a grammar. At most {@value #MAX_BAD_WORDS}
 * @param grammar the grammar of the completion's text; empty allows any text
 */
public record TokenConstraints(
        int minTokens,
        List<Integer> allowedTokens,
        SortedMap<Integer, Float> logitBias,
        List<String> badWords,
        Optional<Grammar> grammar) {
    /** Maximum ids with a bias, as in the OpenAI API. */
    public static final int MAX_BIASES = 300;

    /** Maximum of a bias; the minimum is its negative. */
    public static final float MAX_BIAS = 100;

    public static final int MAX_BAD_WORDS = 256;

    /** No constraints. */
    public static final TokenConstraints NONE =
            new TokenConstraints(0, List.of(), Collections.emptySortedMap(), List.of(), Optional.empty());

    public TokenConstraints {
        BadInput.require(minTokens >= 0, "min_tokens", minTokens, "0 or more");
        allowedTokens = List.copyOf(Objects.requireNonNull(allowedTokens, "allowedTokens"));
        logitBias = Collections.unmodifiableSortedMap(new TreeMap<>(Objects.requireNonNull(logitBias, "logitBias")));
        badWords = List.copyOf(Objects.requireNonNull(badWords, "badWords"));
        Objects.requireNonNull(grammar, "grammar");
        allowedTokens.forEach(id -> requireId("allowed_token_ids", id));
        BadInput.require(
                logitBias.size() <= MAX_BIASES, "token ids in logit_bias", logitBias.size(), "at most " + MAX_BIASES);
        logitBias.forEach(TokenConstraints::requireBias);
        BadInput.require(
                badWords.size() <= MAX_BAD_WORDS, "number of bad_words", badWords.size(), "at most " + MAX_BAD_WORDS);
        if (badWords.stream().anyMatch(String::isBlank)) {
            throw new BadInput("bad_words has a blank text; each must have a character other than spaces");
        }
    }

    private static void requireBias(int id, Float bias) {
        requireId("logit_bias", id);
        float value = Objects.requireNonNull(bias, "bias");
        BadInput.require(value >= -MAX_BIAS && value <= MAX_BIAS, "logit_bias of token " + id, value, "-100 to 100");
    }

    private static void requireId(String field, int id) {
        if (id < 0) {
            throw new BadInput(field + " has token id " + id + "; ids are 0 or more");
        }
    }

    public TokenConstraints withMinTokens(int value) {
        return new TokenConstraints(value, allowedTokens, logitBias, badWords, grammar);
    }

    public TokenConstraints withAllowedTokens(List<Integer> ids) {
        return new TokenConstraints(minTokens, ids, logitBias, badWords, grammar);
    }

    public TokenConstraints withLogitBias(Map<Integer, Float> biases) {
        return new TokenConstraints(minTokens, allowedTokens, new TreeMap<>(biases), badWords, grammar);
    }

    public TokenConstraints withBadWords(List<String> words) {
        return new TokenConstraints(minTokens, allowedTokens, logitBias, words, grammar);
    }

    public TokenConstraints withGrammar(Optional<Grammar> value) {
        return new TokenConstraints(minTokens, allowedTokens, logitBias, badWords, value);
    }

    /** Returns the largest token id that it names, or -1 if it names none. */
    public int maxId() {
        int allowed = allowedTokens.stream().mapToInt(Integer::intValue).max().orElse(-1);
        return logitBias.isEmpty() ? allowed : Math.max(allowed, logitBias.lastKey());
    }
}
