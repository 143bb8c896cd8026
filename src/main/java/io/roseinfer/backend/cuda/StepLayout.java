package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.TokenMask;

/**
 * Byte offsets of a step's input arrays in the upload buffer, fixed by three numbers so that a captured graph finds them. Arrays of
 * variable length come last: block tables, then the tail, which is indexed from the block tables. The tail has the tokens of requests with
 * penalties, the masks and the biases of samples.
 */
record StepLayout(int tokens, int rows, int samples) {
    /** Bytes of a sample's parameters. */
    static final int REQUEST_BYTES = SampleStructs.Request.BYTES;

    /**
     * Returns the bytes of the largest step's inputs: each row with a full context and penalties over all of it, each sample with a mask and all
     * biases.
     *
     * @throws BadInput if that overflows the kernels' int indices
     */
    static long maxBytes(RunnerLimits limits, int contextLength, int vocabularySize) {
        int rows = limits.maxRows();
        long pages = (long) rows * KvPages.of(limits.blockSize()).most(contextLength);
        long history = (long) rows * contextLength;
        long constraints =
                (long) limits.maxSamples() * (TokenMask.words(vocabularySize) + biasWords(StepInputs.MAX_BIASES));
        if (pages + history + constraints > Integer.MAX_VALUE) {
            throw new BadInput(
                    "a step of " + rows + " rows of up to " + contextLength + " tokens lists " + pages
                            + " KV pages, " + history + " tokens for penalties and " + constraints
                            + " words of masks and biases; on cuda all together may be " + Integer.MAX_VALUE,
                    Remedy.of(
                            "use a smaller %s or %s (rows are their sum)", "max_batch_size", "prefill_max_batch_size"));
        }
        return new StepLayout(Math.max(limits.maxTokens(), rows), rows, limits.maxSamples())
                .bytes((int) pages, (int) (history + constraints));
    }

    /** Offset of the step number, which the token slots repeat. */
    long step() {
        return 0;
    }

    long requests() {
        return REQUEST_BYTES;
    }

    long tokenIds() {
        return requests() + (long) REQUEST_BYTES * samples;
    }

    long positions() {
        return tokenIds() + 4L * tokens;
    }

    long slots() {
        return positions() + 4L * tokens;
    }

    long rowStarts() {
        return slots() + 4L * tokens;
    }

    long contextLengths() {
        return rowStarts() + 4L * (rows + 1);
    }

    long blockStarts() {
        return contextLengths() + 4L * rows;
    }

    long sampleTokens() {
        return blockStarts() + 4L * (rows + 1);
    }

    long blocks() {
        return sampleTokens() + 4L * samples;
    }

    long tail(int blocks) {
        return blocks() + 4L * blocks;
    }

    /** Returns the index of the first {@link #tail} word, counted from the block tables. */
    int tailIndex(int blocks) {
        return blocks;
    }

    /** Returns the words of a sample's biases: their number, token ids and values. */
    static int biasWords(int biases) {
        return 1 + 2 * biases;
    }

    /** Returns the bytes of all arrays. */
    long bytes(int blocks, int tailWords) {
        return tail(blocks) + 4L * tailWords;
    }
}
