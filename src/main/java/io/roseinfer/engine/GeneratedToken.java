package io.roseinfer.engine;

import java.util.List;

/**
 * One generated token as a stream delivers it.
 *
 * @param id the token
 * @param text what the token adds to the text: complete characters only, so it may be empty, and the token that completes a
 *     character carries all of it; always empty without a tokenizer
 * @param logprob natural logarithm of the token's probability under the model; NaN unless asked for
 * @param top the likeliest tokens, most likely first; empty unless asked for
 */
public record GeneratedToken(int id, String text, float logprob, List<TopToken> top) {

    /** A likely token and its natural log-probability. */
    public record TopToken(int id, float logprob) {}
}
