package io.roseinfer.backend.cuda.launch;

import io.roseinfer.backend.cuda.memory.ElementType;
import io.roseinfer.backend.cuda.memory.ModelShape;

/**
 * The launch of {@code attention_shared.cu}: rows of one token, heads of keys and values that several heads of queries share.
 *
 * @param headSize of a padded head
 */
public record SharedAttention(int headSize) {
    public static final int THREADS = 128;

    private static final int BLOCK_SIZE = 16;
    private static final int WARPS = THREADS / 32;
    private static final int MAX_GROUP = 8;
    private static final int MAX_CLUSTER = 8;

    /** Thread blocks that each multiprocessor should get before clusters stop growing. */
    private static final int BLOCKS_PER_MULTIPROCESSOR = 2;

    /** Whether there is such a kernel for a model. */
    static boolean takes(ModelShape shape, int blockSize) {
        return shape.type() != ElementType.F32
                && (shape.headPad() == 64 || shape.headPad() == 128)
                && shape.heads() / shape.kvHeads() <= MAX_GROUP
                && blockSize == BLOCK_SIZE;
    }

    /** The kernel's name, but for the element type. */
    public String kernel() {
        return "attention_shared_" + headSize;
    }

    /** Thread blocks that share the context of a row's head: the more, the fewer there are otherwise. */
    public int cluster(int rows, int kvHeads, int multiprocessors) {
        int cluster = MAX_CLUSTER;
        while (cluster > 1 && (long) rows * kvHeads * cluster > (long) BLOCKS_PER_MULTIPROCESSOR * multiprocessors) {
            cluster /= 2;
        }
        return cluster;
    }

    /** Rings of KV blocks, and behind them what the thread blocks of a cluster send each other. */
    public int sharedBytes() {
        int stages = headSize == 64 ? 4 : 3;
        int ring = WARPS * stages * 2 * BLOCK_SIZE * headSize * 2;
        int received = (MAX_GROUP * headSize / 4 + MAX_CLUSTER) * 32;
        return ring + received;
    }
}
