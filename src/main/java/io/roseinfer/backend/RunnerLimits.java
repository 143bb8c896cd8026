package io.roseinfer.backend;

import io.roseinfer.base.RoseException.BadInput;

/**
 * The largest step a runner must be able to run, fixed at load.
 *
 * @param maxRows most rows (sequences) in one step
 * @param maxTokens most tokens in one step, all rows together
 * @param blockSize tokens per KV block
 * @param kvBlocks blocks in the KV pool; 0 lets the backend choose from the memory there is
 */
public record RunnerLimits(int maxRows, int maxTokens, int blockSize, int kvBlocks) {
    /** Most tokens in a KV block. */
    public static final int MAX_BLOCK_SIZE = 1024;

    public RunnerLimits {
        require(maxRows >= 1, "rows per step", maxRows, "at least 1");
        require(maxTokens >= 1, "tokens per step", maxTokens, "at least 1");
        require(
                blockSize >= 1 && blockSize <= MAX_BLOCK_SIZE,
                "KV block size",
                blockSize,
                "1 to " + MAX_BLOCK_SIZE + " tokens");
        require(kvBlocks >= 0, "KV blocks", kvBlocks, "positive, or 0 to let the backend choose");
    }

    private static void require(boolean allowed, String name, int seen, String range) {
        if (!allowed) {
            throw new BadInput(name + " is " + seen + "; it must be " + range);
        }
    }
}
