package io.roseinfer.sampling;

import io.roseinfer.base.TokenMask;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The inputs of a sample for tests of samplers, with any position. */
public record OneSample(
        SampleRequest request, int position, @Nullable TokenMask mask, List<Integer> tokens, List<Float> values)
        implements SampleInputs {
    /** Returns a sample without mask and biases. */
    public static OneSample of(SampleRequest request, int position) {
        return new OneSample(request, position, null, List.of(), List.of());
    }

    /** Returns this sample with a mask that allows some tokens. */
    public OneSample allowing(int vocabularySize, int... allowed) {
        TokenMask only = new TokenMask(vocabularySize);
        for (int token : allowed) {
            only.allow(token);
        }
        return new OneSample(request, position, only, tokens, values);
    }

    /** Returns this sample with biases. */
    public OneSample withBiases(List<Integer> biased, List<Float> biases) {
        return new OneSample(request, position, mask, biased, biases);
    }

    @Override
    public TokenHistory history() {
        return request.history();
    }

    @Override
    public int biases() {
        return tokens.size();
    }

    @Override
    public int biasToken(int index) {
        return tokens.get(index);
    }

    @Override
    public float bias(int index) {
        return values.get(index);
    }
}
