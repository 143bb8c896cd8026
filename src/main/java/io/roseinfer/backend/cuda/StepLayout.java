package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;

/**
 * Byte offsets of a step's input arrays in the upload buffer, fixed by three numbers so that a captured graph finds them. Arrays of
 * variable length come last: block tables, then the history tokens of requests with penalties, indexed from the block tables.
 */
record StepLayout(int tokens, int rows, int samples) {
    /** Bytes of a sample's parameters. */
    static final int REQUEST_BYTES = SampleStructs.Request.BYTES;

    /**
     * Returns the bytes of the largest step's inputs: each row with a full context, and penalties over all of it.
     *
     * @throws BadInput if that overflows the kernels' int indices
     */
    static long maxBytes(RunnerLimits limits, int contextLength) {
        int rows = limits.maxRows();
        long pages = (long) rows * KvPages.of(limits.blockSize()).most(contextLength);
        long history = (long) rows * contextLength;
        if (pages + history > Integer.MAX_VALUE) {
            throw new BadInput(
                    "a step of " + rows + " rows of up to " + contextLength + " tokens lists " + pages
                            + " KV pages and " + history + " tokens for penalties; on cuda both together may be "
                            + Integer.MAX_VALUE,
                    Remedy.of(
                            "use a smaller %s or %s (rows are their sum)", "max_batch_size", "prefill_max_batch_size"));
        }
        return new StepLayout(Math.max(limits.maxTokens(), rows), rows, limits.maxSamples())
                .bytes((int) pages, (int) history);
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

    long history(int blocks) {
        return blocks() + 4L * blocks;
    }

    /** Returns the index of the first {@link #history} token, counted from the block tables. */
    int historyIndex(int blocks) {
        return blocks;
    }

    /** Returns the bytes of all arrays. */
    long bytes(int blocks, int historyTokens) {
        return history(blocks) + 4L * historyTokens;
    }
}
