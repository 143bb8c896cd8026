package io.roseinfer.backend.cuda;

/**
 * Launch configuration of {@code attention_prefill_wgmma}, Hopper's prefill attention. Configurations with key tiles of one length are
 * bit-identical.
 *
 * @param headSize padded head size, 64 or 128
 * @param heads query heads
 * @param kvHeads KV heads
 */
record WgmmaPrefill(int headSize, int heads, int kvHeads) {
    /** Queries of a consumer warpgroup. */
    private static final int GROUP_ROWS = 64;

    private static final int WARPGROUP = 128;
    private static final int MAX_WARPGROUPS = 3;

    /** Tokens per row up to which one warpgroup is faster than a pair. */
    private static final int PAIRED_TOKENS = 384;

    /** Percentage of SMs with a tile of three warpgroups from which on these are fastest. */
    private static final int FULL_PERCENT = 80;

    /** Returns the kernel for a number of consumer warpgroups, without element types. */
    public String kernel(int warpgroups) {
        return "attention_prefill_wgmma_" + headSize + "_w" + warpgroups;
    }

    /**
     * Returns the consumer warpgroups of a block: three share a key tile and fill an SM. Steps of few tiles need smaller ones, so that
     * SMs finish together: with heads of 128 a pair that takes tokens from both ends of a long prompt if each SM has at most one, since
     * all pairs take equally long; else one, which leaves room for a second block. All prompts of a graph's bucket have the same.
     */
    public int warpgroups(int tokens, int rows, int multiprocessors) {
        long bucketed = (long) Math.ceilDiv(tokens, PromptTile.ROWS) * PromptTile.ROWS;
        if (100L * heads * bucketed / (MAX_WARPGROUPS * GROUP_ROWS) >= (long) FULL_PERCENT * multiprocessors) {
            return MAX_WARPGROUPS;
        }
        long pairs = (heads >> packShift()) * ((bucketed << packShift()) / (2 * GROUP_ROWS) + rows - 1);
        return headSize == 128 && tokens > (long) PAIRED_TOKENS * rows && pairs <= multiprocessors ? 2 : 1;
    }

    /** Returns the logarithm of the heads that share a tile, and so its keys: two of a KV head if it has an even number of them. */
    public int packShift() {
        return heads / kvHeads % 2 == 0 ? 1 : 0;
    }

    /** Returns the heads and tokens of a warpgroup's queries. */
    public int[] queryBox() {
        return new int[] {1 << packShift(), GROUP_ROWS >> packShift()};
    }

    public int threads(int warpgroups) {
        return WARPGROUP * (warpgroups + 1);
    }

    /** Returns the thread blocks of a step; each runs over several tiles. */
    public int blocks(int warpgroups, int tokens, int rows, int multiprocessors) {
        int tokensPerTile = (warpgroups * GROUP_ROWS) >> packShift();
        long tiles = (long) (heads >> packShift()) * (tokens / tokensPerTile + rows);
        int blocksPerMultiprocessor = warpgroups == 1 ? 2 : 1;
        return blocksPerMultiprocessor * (int) Math.min(tiles, multiprocessors);
    }

    /** Returns the dynamic shared memory of a block: queries and the rings of K and V, aligned to 1,024 bytes. */
    public int sharedBytes(int warpgroups) {
        int keys = headSize == 64 || warpgroups == 2 ? 128 : 64;
        int stages = warpgroups < MAX_WARPGROUPS ? 2 : keys == 128 ? 3 : 4;
        return 1024 + (warpgroups * GROUP_ROWS + 2 * stages * keys) * headSize * 2;
    }
}
