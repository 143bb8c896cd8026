package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;

/**
 * Where each array of a step's inputs lies in the one piece that goes up: offsets in bytes, fixed by three numbers, so that a
 * graph captured for them finds its arrays where they were. What varies in length comes last: the block lists, and the tokens
 * of requests whose penalties look at them, which the kernel finds by an index counted from the block lists.
 */
record StepLayout(int tokens, int rows, int samples) {
    /** Bytes of one sample's parameters on the device. */
    static final int REQUEST_BYTES = SampleStructs.Request.BYTES;

    /**
     * Bytes of the largest step's inputs: each row with a whole context of pages, and with penalties that look at all of it.
     *
     * @throws BadInput if the kernels cannot count so far
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
        return new StepLayout(Math.max(limits.maxTokens(), rows), rows, rows).bytes((int) pages, (int) history);
    }

    /** The step's number, which the tokens come back with. */
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

    long sampleRows() {
        return blockStarts() + 4L * (rows + 1);
    }

    long blocks() {
        return sampleRows() + 4L * samples;
    }

    long history(int blocks) {
        return blocks() + 4L * blocks;
    }

    /** Where in {@link #history} the first token is, as the sampling kernel counts. */
    int historyIndex(int blocks) {
        return blocks;
    }

    /** Bytes of all arrays. */
    long bytes(int blocks, int historyTokens) {
        return history(blocks) + 4L * historyTokens;
    }
}
