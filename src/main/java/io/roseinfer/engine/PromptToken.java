package io.roseinfer.engine;

import io.roseinfer.engine.GeneratedToken.TopToken;
import java.util.List;
import java.util.Objects;

/**
 * A token of a prompt with its log-probability after the tokens before it.
 *
 * @param id the token id
 * @param logprob natural log-probability of the token under the model; NaN for the first token, which follows nothing
 * @param rank place of the token among all by likelihood, from 1; ties go to the lower id; 0 for the first token
 * @param top the most likely tokens, in descending order; empty for the first token
 */
public record PromptToken(int id, float logprob, int rank, List<TopToken> top) {
    public PromptToken {
        top = List.copyOf(Objects.requireNonNull(top, "top"));
    }
}
