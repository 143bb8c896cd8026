package io.roseinfer.backend;

import io.roseinfer.sampling.TokenHistory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tokens up to a sample: its request's tokens before the row, then the row's own tokens up to the sample's. So a sample in the middle of a
 * row reads no later tokens.
 *
 * <p>A reusable view, for devices that have no token of an earlier step in flight. Not thread-safe; allocates nothing.
 */
public final class SampleHistory implements TokenHistory {
    private TokenHistory request = NONE;
    private @Nullable StepInputs step;
    private int firstToken;
    private int firstPosition;
    private int length;

    /** Shows the tokens up to a sample of {@code inputs}; returns this view. */
    public SampleHistory of(StepInputs inputs, int sample) {
        step = inputs;
        request = inputs.sampling(sample).history();
        firstToken = inputs.rowStart(inputs.sampleRow(sample));
        firstPosition = inputs.position(firstToken);
        length = inputs.sampleLength(sample);
        return this;
    }

    @Override
    public int promptLength() {
        return Math.min(request.promptLength(), length);
    }

    @Override
    public int length() {
        return length;
    }

    @Override
    public int token(int index) {
        Objects.checkIndex(index, length);
        return index < firstPosition
                ? request.token(index)
                : Objects.requireNonNull(step).tokenId(firstToken + index - firstPosition);
    }
}
