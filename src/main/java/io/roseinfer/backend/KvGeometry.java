package io.roseinfer.backend;

/**
 * The size of a runner's KV pool.
 *
 * @param blockSize tokens per block
 * @param blocks number of blocks; block ids are 0 to {@code blocks - 1}
 * @param bytesPerBlock bytes of one block, keys and values of all layers
 */
public record KvGeometry(int blockSize, int blocks, long bytesPerBlock) {

    /** Returns the blocks needed for {@code tokens}. */
    public int blocksFor(int tokens) {
        return Math.ceilDiv(tokens, blockSize);
    }

    public long bytes() {
        return blocks * bytesPerBlock;
    }
}
