package io.roseinfer.backend.cuda;

/**
 * Launch configuration of {@code attention_prefill_wgmma}, Hopper's prefill attention. All configurations are bit-identical, so they may
 * follow the step.
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

    /** Returns the kernel for a number of consumer warpgroups, without element types. */
    public String kernel(int warpgroups) {
        return "attention_prefill_wgmma_" + headSize + "_w" + warpgroups;
    }

    /**
     * Returns the consumer warpgroups of a block: three share a key tile and fill an SM, one leaves room for a second block. Steps of
     * few tiles need the small ones, so that SMs finish together.
     */
    public int warpgroups(int tokens, int multiprocessors) {
        long tiles = (long) heads * tokens / (MAX_WARPGROUPS * GROUP_ROWS);
        return 2 * tiles >= 3L * multiprocessors ? MAX_WARPGROUPS : 1;
    }

    /** Returns the logarithm of the heads that share a tile, and so its keys: as many of a KV head's as a power of two divides. */
    public int packShift() {
        return Integer.numberOfTrailingZeros(heads / kvHeads);
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
        int keys = headSize == 64 ? 128 : 64;
        int stages = warpgroups == 1 ? 2 : headSize == 64 ? 3 : 4;
        return 1024 + (warpgroups * GROUP_ROWS + 2 * stages * keys) * headSize * 2;
    }
}
