package io.roseinfer.backend.cuda;

/**
 * Launch configuration of the GQA kernels: {@code attention_decode_gqa} and {@code attention_prefill_gqa}, which also support windows.
 *
 * @param headSize padded head size
 * @param kvElementBytes bytes of a KV element: 2, or 1 for fp8
 */
record GqaAttention(int headSize, int kvElementBytes) {
    public static final int THREADS = 128;

    private static final int BLOCK_SIZE = 16;
    private static final int WARPS = THREADS / 32;
    private static final int WIDE_ROW_BYTES = 256;
    private static final int MAX_GROUP = 8;
    private static final int MAX_CLUSTER = 8;
    private static final int PREFILL_STAGES = 3;
    private static final int PREFILL_TILE = 64;

    /** Thread blocks per SM at which clusters stop growing; one if the exchange is expensive. */
    private static final int BLOCKS_PER_MULTIPROCESSOR = 3;

    /** Cluster times head size above which exchanging partials costs more than a second block per SM saves. */
    private static final int CHEAP_EXCHANGE = 256;

    /** Shared memory request that leaves room for two blocks on an SM of 228 KiB. */
    private static final int NO_THIRD_BLOCK = 77 * 1024;

    /** Returns whether the kernels support a model. */
    static boolean supports(ModelShape shape) {
        return shape.type() != ElementType.F32
                && (shape.headPad() == 64 || shape.headPad() == 128)
                && shape.heads() / shape.kvHeads() <= MAX_GROUP;
    }

    /** Returns whether the prompt GEMM applies QK norm to heads of this size. */
    public boolean normsInGemm() {
        return headSize == 64 || headSize == 128;
    }

    /** Returns the kernel for decode rows, without element types. */
    public String kernel() {
        return "attention_decode_gqa_" + headSize;
    }

    /** Returns the kernel for decode rows that also does the work of {@code rope}, without element types. */
    public String ropeKernel() {
        return "attention_decode_gqa_rope_" + headSize;
    }

    /** Returns the kernel for other rows, without element types. */
    public String prefillKernel() {
        return "attention_prefill_gqa_" + headSize;
    }

    /** Returns the shared memory of a block of {@link #prefillKernel}: K and V tiles, aligned to a row. */
    public int prefillSharedBytes() {
        return PREFILL_STAGES * 2 * PREFILL_TILE * headSize * kvElementBytes + 256;
    }

    /**
     * Returns the number of KV blocks in flight per warp of {@link #kernel}: 4, or 3 for rows of 256 bytes. Steps with many thread
     * blocks use 2 instead of 3, which leaves room for a third thread block per SM.
     */
    public int stages(int rows, int kvHeads, int multiprocessors) {
        if (headSize * kvElementBytes < WIDE_ROW_BYTES) {
            return 4;
        }
        int cluster = cluster(rows, kvHeads, multiprocessors);
        return cluster <= 2 && (long) rows * kvHeads * cluster > 4L * multiprocessors / cluster ? 2 : 3;
    }

    /** Returns the cluster size that splits a context: larger, the fewer blocks the step has. */
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
     * Returns the shared memory of a block of {@link #kernel}: KV rings, then partials received from the cluster. A step with few
     * blocks asks for more: small blocks would crowd on the SMs where the previous GEMM ends first and leave others' bandwidth idle.
     */
    public int sharedBytes(int rows, int kvHeads, int multiprocessors) {
        int cluster = cluster(rows, kvHeads, multiprocessors);
        int own = sharedBytes(kvElementBytes, stages(rows, kvHeads, multiprocessors));
        if ((long) rows * kvHeads * cluster > 2L * multiprocessors) {
            return own;
        }
        int wide = Math.max(own, sharedBytes(2, headSize * 2 < WIDE_ROW_BYTES ? 4 : 3));
        return cluster > 2 ? wide : Math.max(wide, NO_THIRD_BLOCK);
    }

    private int sharedBytes(int elementBytes, int stages) {
        int ring = WARPS * stages * 2 * BLOCK_SIZE * headSize * elementBytes;
        int received = (MAX_GROUP * headSize / 4 + MAX_CLUSTER) * 32;
        return ring + received;
    }
}
