package io.roseinfer.backend;

import io.roseinfer.base.Check;
import io.roseinfer.sampling.SampleRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * One step's work as a struct of arrays in one piece of off-heap memory, written by the engine's packer and read by a runner.
 *
 * <p>A step has {@code tokens()} tokens in {@code rows()} rows. Row r has the tokens {@code rowStart(r) … rowStart(r + 1) - 1};
 * after the step its sequence holds {@code contextLength(r)} tokens, kept in the blocks {@code block(blockStart(r)) …
 * block(blockStart(r + 1) - 1)}. Token t stands at {@code position(t)} of its sequence, its key and value go to {@code slot(t)} =
 * block id · block size + offset. Sample s is taken from the last token of row {@code sampleRow(s)}.
 *
 * <p>A token id below zero stands for a token that is still on the device: {@code ~id} is the index of its sample in the step
 * before. Only runners with {@link ModelRunner#maxInFlight()} above 1 ever see one.
 */
public final class StepInputs {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private final MemorySegment memory;
    private final int maxTokens;
    private final int maxRows;
    private final int maxBlocks;
    private final long tokenIds;
    private final long positions;
    private final long slots;
    private final long rowStarts;
    private final long contextLengths;
    private final long blockStarts;
    private final long sampleRows;
    private final long blocks;
    private final SampleRequest[] sampling;

    private int tokenCount;
    private int rowCount;
    private int blockCount;
    private int sampleCount;

    /**
     * Lays the arrays out in one allocation.
     *
     * @param maxBlocksPerRow blocks of the longest sequence
     */
    public StepInputs(Arena arena, RunnerLimits limits, int maxBlocksPerRow) {
        this(arena.allocate(bytes(limits, maxBlocksPerRow), 64), limits, maxBlocksPerRow);
    }

    /** Lays the arrays out in memory the caller owns, of at least {@link #bytes} bytes. */
    public StepInputs(MemorySegment memory, RunnerLimits limits, int maxBlocksPerRow) {
        this.memory = memory;
        this.maxTokens = limits.maxTokens();
        this.maxRows = limits.maxRows();
        this.maxBlocks = Math.multiplyExact(maxRows, maxBlocksPerRow);
        long next = 0;
        this.tokenIds = next;
        next += 4L * maxTokens;
        this.positions = next;
        next += 4L * maxTokens;
        this.slots = next;
        next += 4L * maxTokens;
        this.rowStarts = next;
        next += 4L * (maxRows + 1);
        this.contextLengths = next;
        next += 4L * maxRows;
        this.blockStarts = next;
        next += 4L * (maxRows + 1);
        this.sampleRows = next;
        next += 4L * maxRows;
        this.blocks = next;
        this.sampling = new SampleRequest[maxRows];
    }

    /** Bytes that inputs of these limits occupy. */
    public static long bytes(RunnerLimits limits, int maxBlocksPerRow) {
        long rows = limits.maxRows();
        return 4L * (3L * limits.maxTokens() + 4 * rows + 2 + rows * maxBlocksPerRow);
    }

    /** Empties the inputs; the memory stays as it is. */
    public void clear() {
        tokenCount = 0;
        rowCount = 0;
        blockCount = 0;
        sampleCount = 0;
        set(rowStarts, 0, 0);
        set(blockStarts, 0, 0);
    }

    /** Opens a row; its tokens and blocks are added next, then {@link #endRow}. */
    public void beginRow() {
        Check.that(rowCount < maxRows, "step has more rows than its limit");
    }

    public void addToken(int id, int position, int slot) {
        Check.that(tokenCount < maxTokens, "step has more tokens than its limit");
        set(tokenIds, tokenCount, id);
        set(positions, tokenCount, position);
        set(slots, tokenCount, slot);
        tokenCount++;
    }

    public void addBlock(int block) {
        Check.that(blockCount < maxBlocks, "step has more blocks than its limit");
        set(blocks, blockCount++, block);
    }

    /** Adds the first {@code count} of these blocks to the open row. */
    public void addBlocks(int[] ids, int count) {
        Check.that(blockCount + count <= maxBlocks, "step has more blocks than its limit");
        MemorySegment.copy(ids, 0, memory, INT, blocks + 4L * blockCount, count);
        blockCount += count;
    }

    /** Closes the open row, whose sequence holds {@code contextLength} tokens once the step has run. */
    public void endRow(int contextLength) {
        set(contextLengths, rowCount, contextLength);
        rowCount++;
        set(rowStarts, rowCount, tokenCount);
        set(blockStarts, rowCount, blockCount);
    }

    /** Samples a token from the row closed last. */
    public void sampleLastRow(SampleRequest request) {
        set(sampleRows, sampleCount, rowCount - 1);
        sampling[sampleCount] = request;
        sampleCount++;
    }

    public int tokens() {
        return tokenCount;
    }

    public int rows() {
        return rowCount;
    }

    public int samples() {
        return sampleCount;
    }

    public int tokenId(int token) {
        return get(tokenIds, token);
    }

    public int position(int token) {
        return get(positions, token);
    }

    public int slot(int token) {
        return get(slots, token);
    }

    /** Index of the row's first token; {@code rowStart(rows())} is the number of tokens. */
    public int rowStart(int row) {
        return get(rowStarts, row);
    }

    public int contextLength(int row) {
        return get(contextLengths, row);
    }

    /** Index of the row's first block in {@link #block}. */
    public int blockStart(int row) {
        return get(blockStarts, row);
    }

    public int block(int index) {
        return get(blocks, index);
    }

    /** Copies the blocks of all rows, int32 one after the other, in one piece. */
    public void copyBlocks(MemorySegment target, long at) {
        MemorySegment.copy(memory, blocks, target, at, 4L * blockCount);
    }

    public int sampleRow(int sample) {
        return get(sampleRows, sample);
    }

    public SampleRequest sampling(int sample) {
        return sampling[sample];
    }

    private int get(long array, int index) {
        return memory.get(INT, array + 4L * index);
    }

    private void set(long array, int index, int value) {
        memory.set(INT, array + 4L * index, value);
    }
}
