package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.TokenMask;

/**
 * Byte offsets of the sampling kernel's inputs in their upload buffer: the parameters of each sample, then a tail of words with the tokens
 * of requests with penalties, the masks and the biases. They are uploaded apart from the inputs of the pass, which can run before they are
 * known.
 */
record SampleLayout(int samples) {
    /**
     * Returns the bytes of the largest step's sampling inputs: each row with penalties over a full context, each sample with a mask and all
     * biases.
     *
     * @throws BadInput if that overflows the kernel's int indices
     */
    static long maxBytes(RunnerLimits limits, int contextLength, int vocabularySize) {
        int rows = limits.maxRows();
        long history = (long) rows * contextLength;
        long constraints =
                (long) limits.maxSamples() * (TokenMask.words(vocabularySize) + biasWords(StepInputs.MAX_BIASES));
        if (history + constraints > Integer.MAX_VALUE) {
            throw new BadInput(
                    "a step of " + rows + " rows of up to " + contextLength + " tokens lists " + history
                            + " tokens for penalties and " + constraints
                            + " words of masks and biases; on cuda both together may be " + Integer.MAX_VALUE,
                    Remedy.of(
                            "use a smaller %s or %s (rows are their sum)", "max_batch_size", "prefill_max_batch_size"));
        }
        return new SampleLayout(limits.maxSamples()).bytes((int) (history + constraints));
    }

    /** Returns the offset of a sample's parameters. */
    long request(int sample) {
        return (long) SampleStructs.Request.BYTES * sample;
    }

    /** Returns the offset of the tail. */
    long tail() {
        return request(samples);
    }

    /** Returns the words of a sample's biases: their number, token ids and values. */
    static int biasWords(int biases) {
        return 1 + 2 * biases;
    }

    /** Returns the bytes of the parameters and a tail of {@code words}. */
    long bytes(int words) {
        return tail() + 4L * words;
    }
}
