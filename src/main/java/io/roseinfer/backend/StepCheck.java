package io.roseinfer.backend;

import io.roseinfer.base.Check;
import io.roseinfer.base.TokenMask;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingParams;

/**
 * Checks a step's indices against model and KV pool before a device uses them; every runner does so at submission. A failure is a bug in
 * the caller.
 */
public final class StepCheck {
    private final ModelSpec spec;
    private final KvGeometry kv;

    public StepCheck(ModelSpec spec, KvGeometry kv) {
        this.spec = spec;
        this.kv = kv;
    }

    /**
     * Checks every id, position, slot, block and sample that the step has.
     *
     * @param samplesBefore samples of the previous step, to which tokens still on the device refer; 0 if there are none
     * @throws Check.Failure if an index is out of range or inconsistent
     */
    public void check(StepInputs step, int samplesBefore) {
        for (int row = 0; row < step.rows(); row++) {
            row(step, row, samplesBefore);
        }
        for (int sample = 0; !step.hasAllTokens() && sample < step.samples(); sample++) {
            id(step.tokenId(step.sampleToken(sample)), samplesBefore);
        }
        checkSamples(step);
    }

    /**
     * Checks every sample.
     *
     * @throws Check.Failure if an index is out of range or inconsistent
     */
    public void checkSamples(StepInputs step) {
        int previous = -1;
        for (int sample = 0; sample < step.samples(); sample++) {
            sample(step, sample, previous);
            previous = step.sampleToken(sample);
        }
    }

    private void row(StepInputs step, int row, int samplesBefore) {
        int first = step.rowStart(row);
        int end = step.rowStart(row + 1);
        int length = step.contextLength(row);
        Check.that(first < end, "row %d of %d has no token", row, step.rows());
        Check.that(length <= spec.contextLength(), "row holds %d tokens, more than %d", length, spec.contextLength());
        if (step.hasAllTokens()) {
            tokens(step, row, samplesBefore);
        }
    }

    private void tokens(StepInputs step, int row, int samplesBefore) {
        int first = step.rowStart(row);
        int end = step.rowStart(row + 1);
        int length = step.contextLength(row);
        int firstBlock = step.blockStart(row);
        int rowBlocks = step.blockStart(row + 1) - firstBlock;
        Check.that(rowBlocks >= kv.blocksFor(length), "row has %d blocks for %d tokens", rowBlocks, length);
        for (int i = 0; i < rowBlocks; i++) {
            Check.index(step.block(firstBlock + i), kv.blocks(), "block");
        }
        for (int t = first; t < end; t++) {
            int position = length - (end - t);
            id(step.tokenId(t), samplesBefore);
            Check.that(step.position(t) == position, "token at position %d, %d expected", step.position(t), position);
            int slot = step.block(firstBlock + position / kv.blockSize()) * kv.blockSize() + position % kv.blockSize();
            Check.that(step.slot(t) == slot, "token in slot %d, %d expected", step.slot(t), slot);
        }
    }

    private void sample(StepInputs step, int sample, int previous) {
        int row = Check.index(step.sampleRow(sample), step.rows(), "sampled row");
        int token = step.sampleToken(sample);
        Check.that(
                token >= step.rowStart(row) && token < step.rowStart(row + 1),
                "sampled token %d is not in row %d",
                token,
                row);
        Check.that(token > previous, "sampled token %d does not follow %d", token, previous);
        int reported = step.reported(sample);
        if (reported != StepInputs.DRAWN) {
            int unused = Check.index(reported, spec.vocabularySize(), "reported token");
            SamplingParams params = step.sampling(sample).params();
            Check.that(
                    params.isGreedy()
                            && !params.hasPenalties()
                            && params.logprobs() >= 0
                            && !step.changesLogits(sample),
                    "sample %d reports token %d, but has parameters of a drawn one or no number of log-probabilities",
                    sample,
                    reported);
        }
        TokenMask mask = step.mask(sample);
        int masked = mask == null ? spec.vocabularySize() : mask.vocabularySize();
        Check.that(
                masked == spec.vocabularySize(),
                "a mask of %d tokens for a vocabulary of %d",
                masked,
                spec.vocabularySize());
        for (int i = step.biasStart(sample); i < step.biasStart(sample + 1); i++) {
            Check.index(step.biasToken(i), spec.vocabularySize(), "biased token");
            Check.that(step.bias(i) < Float.POSITIVE_INFINITY, "bias %d of sample %d is NaN or +∞", i, sample);
        }
    }

    private void id(int id, int samplesBefore) {
        if (id >= 0) {
            Check.index(id, spec.vocabularySize(), "token id");
        } else {
            Check.index(~id, samplesBefore, "sample of the step before");
        }
    }
}
