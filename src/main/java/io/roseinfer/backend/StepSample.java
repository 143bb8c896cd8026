package io.roseinfer.backend;

import io.roseinfer.base.TokenMask;
import io.roseinfer.sampling.SampleInputs;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.TokenHistory;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A sample of a step. Its history is its request's tokens before the row, then the row's own tokens up to the sample's. So a sample in the
 * middle of a row reads no later tokens.
 *
 * <p>A reusable view, for devices that have no token of an earlier step in flight. Not thread-safe; allocates nothing.
 */
public final class StepSample implements SampleInputs, TokenHistory {
    private @Nullable StepInputs inputs;
    private int sample;
    private int firstToken;
    private int firstPosition;
    private int position;

    /** Shows a sample of {@code step}; returns this view. */
    public StepSample of(StepInputs step, int index) {
        inputs = step;
        sample = index;
        firstToken = step.rowStart(step.sampleRow(index));
        firstPosition = step.position(firstToken);
        position = step.sampleLength(index);
        return this;
    }

    private StepInputs step() {
        return Objects.requireNonNull(inputs);
    }

    @Override
    public SampleRequest request() {
        return step().sampling(sample);
    }

    @Override
    public TokenHistory history() {
        return this;
    }

    @Override
    public int position() {
        return position;
    }

    @Override
    public @Nullable TokenMask mask() {
        return step().mask(sample);
    }

    @Override
    public int biases() {
        return step().biasStart(sample + 1) - step().biasStart(sample);
    }

    @Override
    public int biasToken(int index) {
        return step().biasToken(step().biasStart(sample) + index);
    }

    @Override
    public float bias(int index) {
        return step().bias(step().biasStart(sample) + index);
    }

    @Override
    public int promptLength() {
        return Math.min(request().history().promptLength(), position);
    }

    @Override
    public int length() {
        return position;
    }

    @Override
    public int token(int index) {
        Objects.checkIndex(index, position);
        return index < firstPosition
                ? request().history().token(index)
                : step().tokenId(firstToken + index - firstPosition);
    }
}
