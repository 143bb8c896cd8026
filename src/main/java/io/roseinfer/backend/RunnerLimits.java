package io.roseinfer.backend;

import io.roseinfer.base.RoseException.BadInput;

/**
 * The largest step a runner must be able to run, fixed at load.
 *
 * @param maxRows maximum rows (sequences) per step
 * @param decodeRows maximum rows of a decode step; a device may prepare for steps of up to this size
 * @param maxTokens maximum tokens per step, over all rows
 * @param maxSamples maximum samples per step, over all rows; at least {@code maxRows}
 * @param draftedTokens maximum tokens of a step with drafts; 0 if there are no drafts
 * @param blockSize tokens per KV block
 * @param kvBlocks blocks in the KV pool; 0 lets the backend choose by available memory
 */
public record RunnerLimits(
        int maxRows, int decodeRows, int maxTokens, int maxSamples, int draftedTokens, int blockSize, int kvBlocks) {
    /** Maximum tokens in a KV block. */
    public static final int MAX_BLOCK_SIZE = 1024;

    public RunnerLimits {
        BadInput.require(maxRows >= 1, "rows per step", maxRows, "at least 1");
        BadInput.require(
                decodeRows >= 1 && decodeRows <= maxRows,
                "decode rows per step",
                decodeRows,
                "1 to " + maxRows + ", the rows per step");
        BadInput.require(maxTokens >= 1, "tokens per step", maxTokens, "at least 1");
        BadInput.require(
                maxSamples >= maxRows, "samples per step", maxSamples, "at least " + maxRows + ", the rows per step");
        BadInput.require(
                draftedTokens >= 0, "tokens per step with drafts", draftedTokens, "positive, or 0 for no drafts");
        BadInput.require(
                blockSize >= 1 && blockSize <= MAX_BLOCK_SIZE,
                "KV block size",
                blockSize,
                "1 to " + MAX_BLOCK_SIZE + " tokens");
        BadInput.require(kvBlocks >= 0, "KV blocks", kvBlocks, "positive, or 0 to let the backend choose");
    }

    /** Creates limits without drafts, with {@code decodeRows} and {@code maxSamples} equal to {@code maxRows}. */
    public RunnerLimits(int maxRows, int maxTokens, int blockSize, int kvBlocks) {
        this(maxRows, maxRows, maxTokens, maxRows, 0, blockSize, kvBlocks);
    }

    /** Returns these limits with another maximum of samples per step. */
    public RunnerLimits withMaxSamples(int samples) {
        return new RunnerLimits(maxRows, decodeRows, maxTokens, samples, draftedTokens, blockSize, kvBlocks);
    }
}
