package io.roseinfer.backend.cpu.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Keys and values of all sequences in blocks of {@code blockSize} slots, as 32-bit floats:
 * {@code [block][layer][head]} of keys {@code [headSize][slot]} followed by values {@code [slot][headSize]}.
 *
 * <p>Keys lie transposed so that a vector holds the same dimension of neighbouring tokens: scores then need no sum across lanes,
 * and each is one chain of multiply-adds over the head's dimensions. Values lie by token, so the weighted sum is one chain over
 * the tokens. Neither depends on the block size.
 */
public final class KvPool {
    /** Bytes of the memory behind the last block: a vector of keys may begin at a block's last slot. */
    private static final int SLACK = 64;

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private final MemorySegment memory;
    private final int blockSize;
    private final int headSize;
    private final long headBytes;
    private final long layerBytes;
    private final long blockBytes;

    /** Views {@code memory}, of {@link #bytes} bytes, as a pool. */
    public KvPool(MemorySegment memory, int layers, int heads, int headSize, int blockSize) {
        this.memory = memory;
        this.blockSize = blockSize;
        this.headSize = headSize;
        this.headBytes = 8L * headSize * blockSize;
        this.layerBytes = heads * headBytes;
        this.blockBytes = blockBytes(layers, heads, headSize, blockSize);
    }

    /** Bytes a pool needs whose blocks hold {@code allBlocks} bytes together. */
    public static long bytes(long allBlocks) {
        return allBlocks + SLACK;
    }

    /** Bytes of one block, keys and values of all layers. */
    public static long blockBytes(int layers, int heads, int headSize, int blockSize) {
        return 8L * layers * heads * headSize * blockSize;
    }

    public MemorySegment memory() {
        return memory;
    }

    public int blockSize() {
        return blockSize;
    }

    public int headSize() {
        return headSize;
    }

    /** Byte offset of the keys {@code [headSize][blockSize]} of one head in one block. */
    public long keys(int block, int layer, int head) {
        return block * blockBytes + layer * layerBytes + head * headBytes;
    }

    /** Byte offset of the values {@code [blockSize][headSize]} of one head in one block. */
    public long values(int block, int layer, int head) {
        return keys(block, layer, head) + headBytes / 2;
    }

    /** Stores a token's key and value of one head in slot {@code block · blockSize + offset}. */
    public void append(int slot, int layer, int head, float[] source, int key, int value) {
        int offset = slot % blockSize;
        long keys = keys(slot / blockSize, layer, head) + 4L * offset;
        for (int d = 0; d < headSize; d++) {
            memory.set(FLOAT, keys + 4L * d * blockSize, source[key + d]);
        }
        long values = values(slot / blockSize, layer, head) + 4L * offset * headSize;
        MemorySegment.copy(source, value, memory, FLOAT, values, headSize);
    }

    /** Fills a block with NaN, so that a read of a slot nobody wrote shows. */
    public void poison(int block) {
        for (long at = block * blockBytes; at < (block + 1) * blockBytes; at += Float.BYTES) {
            memory.set(FLOAT, at, Float.NaN);
        }
    }
}
