package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;

/**
 * Byte offsets of the arrays that a pass reads in its upload buffer, fixed by three numbers so that a captured graph finds them. The block
 * tables come last, as their length varies. {@link SampleLayout} has what the sampling kernel reads.
 *
 * @param rows rows of the kernels, see {@link KernelRows}
 */
record StepLayout(int tokens, int rows, int samples) {
    /** Offset of the step number, which the token slots repeat. */
    static final long STEP = 0;

    /**
     * Returns the bytes of the largest pass's inputs: each row with a full context.
     *
     * @throws BadInput if that overflows the kernels' int indices
     */
    static long maxBytes(RunnerLimits limits, int contextLength) {
        int rows = limits.maxRows();
        long pages = (long) rows * KvPages.of(limits.blockSize()).most(contextLength);
        if (pages > Integer.MAX_VALUE) {
            throw new BadInput(
                    "a step of " + rows + " rows of up to " + contextLength + " tokens lists " + pages
                            + " KV pages; on cuda there may be " + Integer.MAX_VALUE,
                    Remedy.of(
                            "use a smaller %s or %s (rows are their sum)", "max_batch_size", "prefill_max_batch_size"));
        }
        int kernelRows = rows + limits.maxSamples(); // a row that is split has as many samples as parts
        return new StepLayout(Math.max(limits.maxTokens(), rows), kernelRows, limits.maxSamples()).bytes((int) pages);
    }

    long tokenIds() {
        return 8;
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

    /** Rows in the order in which decode attention takes them. */
    long rowOrder() {
        return blockStarts() + 4L * (rows + 1);
    }

    long sampleTokens() {
        return rowOrder() + 4L * rows;
    }

    long blocks() {
        return sampleTokens() + 4L * samples;
    }

    /** Returns the bytes of all arrays. */
    long bytes(int blocks) {
        return blocks() + 4L * blocks;
    }
}
