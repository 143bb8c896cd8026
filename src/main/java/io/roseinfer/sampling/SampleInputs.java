package io.roseinfer.sampling;

import io.roseinfer.base.TokenMask;
import org.jspecify.annotations.Nullable;

/** The inputs of one sample, except its logits. Read during {@link Sampler#sample} only. */
public interface SampleInputs {
    SampleRequest request();

    /** Returns the tokens up to the sample, read only by penalties; the request's own may have later ones. */
    TokenHistory history();

    /** Returns the number of tokens up to the sample, which is the index of its random number. */
    int position();

    /** Returns the allowed tokens, over the logits' vocabulary; null if all are. */
    @Nullable
    TokenMask mask();

    /** Returns the number of biases. */
    int biases();

    /** Returns the token of a bias, {@code 0 <= index < biases()}. */
    int biasToken(int index);

    /** Returns what is added to the token's logit; −∞ forbids the token. A token has at most one finite bias. */
    float bias(int index);

    /** Returns whether the sample has a mask or biases. */
    default boolean changesLogits() {
        return mask() != null || biases() > 0;
    }
}
