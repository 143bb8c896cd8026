package io.roseinfer.backend.cpu.kernel;

import java.lang.foreign.MemorySegment;

/**
 * The keys and values of one KV head of a sequence in one layer: a {@link KvPool} through a block table and a window. Reusable.
 */
public final class KvView {
    private final KvPool pool;
    private int[] blocks = {};
    private int firstBlock;
    private int layer;
    private int head;
    private int window;

    public KvView(KvPool pool) {
        this.pool = pool;
    }

    /**
     * Moves to the sequence whose tokens {@code i · blockSize …} are in block {@code blocks[firstBlock + i]}.
     *
     * @param window maximum tokens visible to a query, the newest, including itself; at least 1
     */
    public void move(int[] blocks, int firstBlock, int layer, int head, int window) {
        this.blocks = blocks;
        this.firstBlock = firstBlock;
        this.layer = layer;
        this.head = head;
        this.window = window;
    }

    /** Returns the first token visible to the last query of {@code length} tokens. */
    public int firstSeen(int length) {
        return Math.max(0, length - window);
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

    /** Returns the byte offset of the keys {@code [headSize][blockSize]} of the sequence's block {@code index}. */
    public long keys(int index) {
        return pool.keys(blocks[firstBlock + index], layer, head);
    }

    /** Returns the byte offset of the values {@code [blockSize][headSize]} of the sequence's block {@code index}. */
    public long values(int index) {
        return pool.values(blocks[firstBlock + index], layer, head);
    }
}
