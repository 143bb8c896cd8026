package io.roseinfer.backend.cuda;

/**
 * The launches of {@code attention_decode_gqa.cu} and {@code attention_prefill_gqa}: heads of keys and values that several heads of
 * queries share, and windows.
 *
 * @param headSize of a padded head
 * @param kvElementBytes bytes of an element of a key or a value: 2, or 1 for fp8
 */
record GqaAttention(int headSize, int kvElementBytes) {
    public static final int THREADS = 128;

    private static final int BLOCK_SIZE = 16;
    private static final int WARPS = THREADS / 32;
    private static final int MAX_GROUP = 8;
    private static final int MAX_CLUSTER = 8;
    private static final int PREFILL_STAGES = 3;
    private static final int PREFILL_TILE = 64;

    /** Thread blocks that each multiprocessor should get before clusters stop growing; one where they send each other much. */
    private static final int BLOCKS_PER_MULTIPROCESSOR = 2;

    /** Cluster times head size above which exchanging partial sums costs more than a second block on a multiprocessor gains. */
    private static final int CHEAP_EXCHANGE = 256;

    /** Shared memory of which a multiprocessor with 228 KiB has enough for two thread blocks. */
    private static final int NO_THIRD_BLOCK = 77 * 1024;

    /** Whether there are such kernels for a model. */
    static boolean supports(ModelShape shape) {
        return shape.type() != ElementType.F32
                && (shape.headPad() == 64 || shape.headPad() == 128)
                && shape.heads() / shape.kvHeads() <= MAX_GROUP;
    }

    /** The kernel of rows of one token, but for the element types. */
    public String kernel() {
        return "attention_decode_gqa_" + headSize;
    }

    /** The kernel of other rows. */
    public String prefillKernel() {
        return "attention_prefill_gqa_" + headSize;
    }

    /** Shared memory of a thread block of {@link #prefillKernel}: tiles of keys and values, aligned to a row. */
    public int prefillSharedBytes() {
        return PREFILL_STAGES * 2 * PREFILL_TILE * headSize * kvElementBytes + 256;
    }

    /** Thread blocks that share the context of a row's head: the more, the fewer there are otherwise. */
    public int cluster(int rows, int kvHeads, int multiprocessors) {
        int cluster = MAX_CLUSTER;
        while (cluster > 1
                && (long) rows * kvHeads * cluster > (long) blocksPerMultiprocessor(cluster) * multiprocessors) {
            cluster /= 2;
        }
        return cluster;
    }

    private int blocksPerMultiprocessor(int cluster) {
        return cluster * headSize > CHEAP_EXCHANGE ? 1 : BLOCKS_PER_MULTIPROCESSOR;
    }

    /**
     * Shared memory of a thread block of {@link #kernel}: rings of KV blocks, and behind them what the thread blocks of a cluster send
     * each other. A step that has few thread blocks asks for more: blocks that take little would crowd on the multiprocessors where
     * the GEMM before has ended first, and leave the bandwidth of the others idle.
     */
    public int sharedBytes(int rows, int kvHeads, int multiprocessors) {
        int cluster = cluster(rows, kvHeads, multiprocessors);
        if ((long) rows * kvHeads * cluster > 2L * multiprocessors) {
            return sharedBytes(kvElementBytes);
        }
        int wide = Math.max(sharedBytes(kvElementBytes), sharedBytes(2));
        return cluster > 2 ? wide : Math.max(wide, NO_THIRD_BLOCK);
    }

    private int sharedBytes(int elementBytes) {
        int rowBytes = headSize * elementBytes;
        int stages = rowBytes == 256 ? 3 : 4;
        int ring = WARPS * stages * 2 * BLOCK_SIZE * rowBytes;
        int received = (MAX_GROUP * headSize / 4 + MAX_CLUSTER) * 32;
        return ring + received;
    }
}
