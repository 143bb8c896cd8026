package io.roseinfer.engine;

import java.util.List;
import java.util.Objects;

/**
 * A generated token, as a stream delivers it. Immutable.
 *
 * @param id the token id
 * @param text the text that the token adds: complete characters only, so it may be empty until a later token completes
 *     a character; always empty without a tokenizer
 * @param logprob natural log-probability of the token under the model; NaN unless requested
 * @param top the most likely tokens, in descending order; empty unless requested
 */
public record GeneratedToken(int id, String text, float logprob, List<TopToken> top) {
    public GeneratedToken {
        Objects.requireNonNull(text, "text");
        top = List.copyOf(Objects.requireNonNull(top, "top"));
    }

    /** A likely token and its natural log-probability. */
    public record TopToken(int id, float logprob) {}
}
