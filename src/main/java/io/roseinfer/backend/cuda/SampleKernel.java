package io.roseinfer.backend.cuda;

/**
 * The sampling kernel of a vocabulary. If a row of logits fits in shared memory, it is read once from device memory.
 *
 * @param inSharedMemory whether the row is kept in shared memory
 * @param sharedBytes dynamic shared memory of a block
 */
record SampleKernel(boolean inSharedMemory, int sharedBytes) {
    /** Histogram and list of {@code ranking.cuh}. */
    private static final int RANKING_BYTES = 20 * 1024;

    /** Maximum dynamic shared memory of a block on Hopper. */
    private static final int MAX_SHARED_BYTES = 232_448 - 2048;

    public static SampleKernel of(int vocabulary, boolean hopper) {
        int row = 16 * Math.ceilDiv(vocabulary, 4);
        boolean inSharedMemory = hopper && row <= MAX_SHARED_BYTES - RANKING_BYTES;
        return new SampleKernel(inSharedMemory, RANKING_BYTES + (inSharedMemory ? row : 0));
    }

    public String name() {
        return inSharedMemory ? "sample_smem" : "sample";
    }
}
