package io.roseinfer.backend.cpu.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The KV pool: blocks of {@code blockSize} slots, as 32-bit floats:
 * {@code [block][layer][head]} of keys {@code [headSize][slot]} followed by values {@code [slot][headSize]}.
 *
 * <p>Keys are transposed, so that a vector holds one dimension of adjacent tokens: scores need no reduction across lanes, and each is one
 * FMA chain over the head's dimensions. Values are by token, so the weighted sum is one chain over tokens. Neither depends on the block
 * size.
 */
public final class KvPool {
    /** Bytes after the last block: a key vector may begin at a block's last slot. */
    private static final int SLACK = 64;

    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private final MemorySegment memory;
    private final int blockSize;
    private final int headSize;
    private final long headBytes;
    private final long layerBytes;
    private final long blockBytes;

    /** Creates a pool over {@code memory} of {@link #bytes} bytes. */
    public KvPool(MemorySegment memory, int layers, int heads, int headSize, int blockSize) {
        this.memory = memory;
        this.blockSize = blockSize;
        this.headSize = headSize;
        this.headBytes = 8L * headSize * blockSize;
        this.layerBytes = heads * headBytes;
        this.blockBytes = blockBytes(layers, heads, headSize, blockSize);
    }

    /** Returns the bytes of a pool whose blocks take {@code allBlocks} bytes. */
    public static long bytes(long allBlocks) {
        return allBlocks + SLACK;
    }

    /** Returns the bytes of a block, keys and values of all layers. */
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

    /** Returns the byte offset of the keys {@code [headSize][blockSize]} of one head in one block. */
    public long keys(int block, int layer, int head) {
        return block * blockBytes + layer * layerBytes + head * headBytes;
    }

    /** Returns the byte offset of the values {@code [blockSize][headSize]} of one head in one block. */
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

    /** Fills a block with NaN, so that a read of an unwritten slot shows. */
    public void poison(int block) {
        for (long at = block * blockBytes; at < (block + 1) * blockBytes; at += Float.BYTES) {
            memory.set(FLOAT, at, Float.NaN);
        }
    }
}
