package io.roseinfer.backend.cpu.kernel;

import java.lang.foreign.MemorySegment;

/** One head's keys and values of one sequence, in one layer: a {@link KvPool} seen through a block list. Reused: it can be moved. */
public final class KvView {
    private final KvPool pool;
    private int[] blocks = {};
    private int firstBlock;
    private int layer;
    private int head;

    public KvView(KvPool pool) {
        this.pool = pool;
    }

    /** Looks at the sequence whose tokens {@code i · blockSize …} are in block {@code blocks[firstBlock + i]}. */
    public void move(int[] blocks, int firstBlock, int layer, int head) {
        this.blocks = blocks;
        this.firstBlock = firstBlock;
        this.layer = layer;
        this.head = head;
    }

    public MemorySegment memory() {
        return pool.memory();
    }

    public int blockSize() {
        return pool.blockSize();
    }

    public int headSize() {
        return pool.headSize();
    }

    /** Byte offset of the keys {@code [headSize][blockSize]} of the sequence's block {@code index}. */
    public long keys(int index) {
        return pool.keys(blocks[firstBlock + index], layer, head);
    }

    /** Byte offset of the values {@code [blockSize][headSize]} of the sequence's block {@code index}. */
    public long values(int index) {
        return pool.values(blocks[firstBlock + index], layer, head);
    }
}
