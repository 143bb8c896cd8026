package io.roseinfer.backend;

import io.roseinfer.base.Check;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.TokenMask;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.sampling.SampleRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A step's inputs as a struct of arrays in one off-heap allocation, written row by row; the runner checks them with {@link StepCheck}.
 *
 * <p>A step has {@code tokens()} tokens in {@code rows()} rows. Row r has the tokens {@code rowStart(r) … rowStart(r + 1) - 1};
 * after the step its sequence holds {@code contextLength(r)} tokens, kept in the blocks {@code block(blockStart(r)) …
 * block(blockStart(r + 1) - 1)}. Token t is at {@code position(t)} of its sequence; its key and value go to {@code slot(t)} =
 * block id · block size + offset. Sample s is taken after token {@code sampleToken(s)} of row {@code sampleRow(s)}, from the logits at that
 * token. A row may have any number of samples; they are in token order, at most one per token. A sample may have a mask of allowed tokens, and
 * biases {@code biasStart(s) … biasStart(s + 1) - 1}, which are added to logits. A sample with a {@link #reported} token draws none: it
 * reports that token's log-probability.
 *
 * <p>A negative token id is a token still on the device: {@code ~id} is the index of its sample in the previous step. Only runners with
 * {@link ModelRunner#maxInFlight()} above 1 see one.
 */
public final class StepInputs implements LogitConstraints.Target {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    /** Maximum biases of a sample. */
    public static final int MAX_BIASES = 1024;

    /** {@link #reported} of a sample that draws a token. */
    public static final int DRAWN = -1;

    private static final int FIRST_BIASES = 64;

    /** Maximum length of an array. */
    private static final int MAX_LISTED_BLOCKS = Integer.MAX_VALUE - 8;

    private final MemorySegment memory;
    private final int maxTokens;
    private final int maxRows;
    private final int maxSamples;
    private final int maxBlocks;
    private final int blockSize;
    private final long tokenIds;
    private final long positions;
    private final long slots;
    private final long rowStarts;
    private final long contextLengths;
    private final long blockStarts;
    private final long sampleTokens;
    private final long sampleRows;
    private final long blocks;
    private final boolean hasAllTokens;
    private final SampleRequest[] sampling;
    private final @Nullable TokenMask[] masks;
    private final int[] biasStarts;
    private final int[] reported;
    /** Grow on demand: few requests have biases. */
    private int[] biasTokens = new int[FIRST_BIASES];

    private float[] biases = new float[FIRST_BIASES];

    private int tokenCount;
    private int rowCount;
    private int blockCount;
    private int sampleCount;
    /** The sample that {@link #mask} and {@link #bias} change. */
    private int constrained;

    private int nextPosition;
    /** Block and offset of the open row's next token. */
    private int blockIndex;

    private int blockOffset;
    private int[] rowBlocks = {};

    /**
     * Lays the arrays out in one allocation.
     *
     * @param maxBlocksPerRow blocks of the longest sequence
     */
    public StepInputs(Arena arena, RunnerLimits limits, int maxBlocksPerRow) {
        this(arena.allocate(bytes(limits, maxBlocksPerRow), 64), limits, maxBlocksPerRow);
    }

    /** Lays the arrays out in memory of the caller, at least {@link #bytes} bytes. */
    public StepInputs(MemorySegment memory, RunnerLimits limits, int maxBlocksPerRow) {
        this(memory, limits, maxBlocksPerRow, true);
    }

    /**
     * Returns inputs of the shapes of rows, for runners that compute no model: they have neither block tables nor slots, and of the tokens only
     * those that a sample follows.
     */
    public static StepInputs ofShapes(Arena arena, RunnerLimits limits) {
        return new StepInputs(arena.allocate(bytes(limits, 0), 64), limits, 0, false);
    }

    private StepInputs(MemorySegment memory, RunnerLimits limits, int maxBlocksPerRow, boolean hasAllTokens) {
        this.memory = memory;
        this.hasAllTokens = hasAllTokens;
        this.maxTokens = limits.maxTokens();
        this.maxRows = limits.maxRows();
        this.maxSamples = limits.maxSamples();
        this.blockSize = limits.blockSize();
        this.maxBlocks = listedBlocks(limits, maxBlocksPerRow);
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
        this.sampleTokens = next;
        next += 4L * maxSamples;
        this.sampleRows = next;
        next += 4L * maxSamples;
        this.blocks = next;
        this.sampling = new SampleRequest[maxSamples];
        this.masks = new TokenMask[maxSamples];
        this.biasStarts = new int[maxSamples + 1];
        this.reported = new int[maxSamples];
    }

    /**
     * Returns the maximum entries in a step's block tables.
     *
     * @throws BadInput if they exceed the length of an array
     */
    public static int listedBlocks(RunnerLimits limits, int maxBlocksPerRow) {
        long listed = (long) limits.maxRows() * maxBlocksPerRow;
        if (listed > MAX_LISTED_BLOCKS) {
            throw new BadInput(
                    "a step of " + limits.maxRows() + " rows of up to " + maxBlocksPerRow
                            + " KV blocks lists " + listed + " blocks; " + MAX_LISTED_BLOCKS
                            + " are possible",
                    Remedy.of("use a larger %s or a smaller %s", "block_size", "max_batch_size"));
        }
        return (int) listed;
    }

    /** Returns the bytes of inputs with these limits. */
    public static long bytes(RunnerLimits limits, int maxBlocksPerRow) {
        long rows = limits.maxRows();
        return 4L * (3L * limits.maxTokens() + 3 * rows + 2 + 2L * limits.maxSamples() + rows * maxBlocksPerRow);
    }

    /** Returns whether the step has all tokens of its rows, with their slots and blocks; false for {@link #ofShapes}. */
    public boolean hasAllTokens() {
        return hasAllTokens;
    }

    /** Clears the inputs without touching the memory. */
    public void clear() {
        tokenCount = 0;
        rowCount = 0;
        blockCount = 0;
        sampleCount = 0;
        set(rowStarts, 0, 0);
        set(blockStarts, 0, 0);
    }

    /**
     * Opens a row; its tokens are added next, then {@link #endRow}.
     *
     * @param position position of its first token in the sequence
     * @param blocks the sequence's blocks in order, for all tokens up to the row's last; read until the row is closed
     */
    public void beginRow(int position, int[] blocks) {
        Check.that(rowCount < maxRows, "step has more rows than its limit");
        nextPosition = position;
        blockIndex = position / blockSize;
        blockOffset = position % blockSize;
        rowBlocks = blocks;
    }

    /** Counts the row's next tokens without adding them; only if the step need not have all tokens. */
    public void skipTokens(int count) {
        Check.that(!hasAllTokens, "a step lacks tokens");
        Check.that(count <= maxTokens - tokenCount, "step has more tokens than its limit");
        tokenCount += count;
        nextPosition += count;
    }

    /** Adds the row's next token; position and slot follow from {@link #beginRow}. */
    public void addToken(int id) {
        Check.that(tokenCount < maxTokens, "step has more tokens than its limit");
        set(tokenIds, tokenCount, id);
        set(positions, tokenCount, nextPosition++);
        if (!hasAllTokens) {
            tokenCount++;
            return;
        }
        set(slots, tokenCount, rowBlocks[blockIndex] * blockSize + blockOffset);
        tokenCount++;
        blockOffset++;
        if (blockOffset == blockSize) {
            blockOffset = 0;
            blockIndex++;
        }
    }

    /** Closes the open row; after the step its sequence holds the tokens up to the last one added. */
    public void endRow() {
        int count = !hasAllTokens ? 0 : blockOffset == 0 ? blockIndex : blockIndex + 1;
        Check.that(blockCount + count <= maxBlocks, "step has more blocks than its limit");
        MemorySegment.copy(rowBlocks, 0, memory, INT, blocks + 4L * blockCount, count);
        blockCount += count;
        set(contextLengths, rowCount, nextPosition);
        rowCount++;
        set(rowStarts, rowCount, tokenCount);
        set(blockStarts, rowCount, blockCount);
    }

    /**
     * Requests a sample after a token of the row closed last.
     *
     * @param token the token's index in the step, larger than the previous sample's
     */
    public void sample(int token, SampleRequest request) {
        addSample(token, request, DRAWN);
    }

    /**
     * Requests a sample that draws no token, but reports a given one: its log-probability and rank, and the most likely tokens.
     *
     * @param token as in {@link #sample}
     * @param request the number of most likely tokens; other parameters are greedy ones
     * @param of the token id to report
     */
    public void report(int token, SampleRequest request, int of) {
        addSample(token, request, of);
    }

    private void addSample(int token, SampleRequest request, int report) {
        Check.that(sampleCount < maxSamples, "step has more samples than its limit");
        set(sampleTokens, sampleCount, token);
        reported[sampleCount] = report;
        set(sampleRows, sampleCount, rowCount - 1);
        sampling[sampleCount] = request;
        masks[sampleCount] = null;
        sampleCount++;
        biasStarts[sampleCount] = biasStarts[sampleCount - 1];
        constrained = sampleCount - 1;
    }

    /**
     * Lets the next masks and biases apply to an earlier sample than the last one. They are set for one sample after the other, in order.
     *
     * @param sample the sample's index
     */
    public void constrain(int sample) {
        Check.index(sample, sampleCount, "sample");
        constrained = sample;
    }

    /**
     * Limits the sample requested last, or the one set by {@link #constrain}, to the tokens of a mask.
     *
     * @param mask over the model's vocabulary; the caller keeps it, and does not change it until the step is awaited
     */
    @Override
    public void mask(TokenMask mask) {
        Check.that(sampleCount > 0, "a mask without a sample");
        masks[constrained] = mask;
    }

    /**
     * Adds to a token's logit for the sample requested last, or the one set by {@link #constrain}; at most {@value #MAX_BIASES} times per sample.
     *
     * @param bias finite, at most once per token; or −∞, which forbids the token
     */
    @Override
    public void bias(int token, float bias) {
        Check.that(sampleCount > 0, "a bias without a sample");
        int index = biasStarts[sampleCount];
        Check.that(index == biasStarts[constrained + 1], "a sample after this one has biases already");
        Check.that(index - biasStarts[constrained] < MAX_BIASES, "a sample has more biases than its limit");
        for (int sample = constrained; sample < sampleCount; sample++) {
            biasStarts[sample + 1]++;
        }
        if (index == biasTokens.length) {
            biasTokens = Arrays.copyOf(biasTokens, 2 * index);
            biases = Arrays.copyOf(biases, 2 * index);
        }
        biasTokens[index] = token;
        biases[index] = bias;
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

    /** Returns the index of the row's first token; {@code rowStart(rows())} is the number of tokens. */
    public int rowStart(int row) {
        return get(rowStarts, row);
    }

    public int contextLength(int row) {
        return get(contextLengths, row);
    }

    /** Returns the index of the row's first block in {@link #block}. */
    public int blockStart(int row) {
        return get(blockStarts, row);
    }

    public int block(int index) {
        return get(blocks, index);
    }

    /** Copies token ids, positions and slots to three byte offsets. */
    public void copyTokens(MemorySegment target, long idsAt, long positionsAt, long slotsAt) {
        MemorySegment.copy(memory, tokenIds, target, idsAt, 4L * tokenCount);
        MemorySegment.copy(memory, positions, target, positionsAt, 4L * tokenCount);
        MemorySegment.copy(memory, slots, target, slotsAt, 4L * tokenCount);
    }

    /** Copies row starts, including the end of the last row, and context lengths. */
    public void copyRows(MemorySegment target, long rowStartsAt, long contextLengthsAt) {
        MemorySegment.copy(memory, rowStarts, target, rowStartsAt, 4L * (rowCount + 1));
        MemorySegment.copy(memory, contextLengths, target, contextLengthsAt, 4L * rowCount);
    }

    /** Copies the blocks of all rows. */
    public void copyBlocks(MemorySegment target, long at) {
        MemorySegment.copy(memory, blocks, target, at, 4L * blockCount);
    }

    /** Copies the sampled tokens' indices. */
    public void copySampleTokens(MemorySegment target, long at) {
        MemorySegment.copy(memory, sampleTokens, target, at, 4L * sampleCount);
    }

    /** Returns the index of the token after which the sample is taken. */
    public int sampleToken(int sample) {
        return get(sampleTokens, sample);
    }

    /** Returns the row of {@link #sampleToken}. */
    public int sampleRow(int sample) {
        return get(sampleRows, sample);
    }

    /** Returns the number of tokens up to the sample's token, which is the position of the token sampled. */
    public int sampleLength(int sample) {
        return position(sampleToken(sample)) + 1;
    }

    public SampleRequest sampling(int sample) {
        return sampling[sample];
    }

    /** Returns the token id that a sample reports, or {@link #DRAWN}. */
    public int reported(int sample) {
        return reported[sample];
    }

    /** Returns the allowed tokens of a sample, or null if all are. */
    public @Nullable TokenMask mask(int sample) {
        return masks[sample];
    }

    /** Returns the index of a sample's first bias; {@code biasStart(samples())} is the number of biases. */
    public int biasStart(int sample) {
        return biasStarts[sample];
    }

    public int biasToken(int index) {
        return biasTokens[index];
    }

    public float bias(int index) {
        return biases[index];
    }

    /** Returns whether a sample has a mask or biases, so that its logits change even without penalties. */
    public boolean changesLogits(int sample) {
        return masks[sample] != null || biasStarts[sample + 1] > biasStarts[sample];
    }

    private int get(long array, int index) {
        return memory.get(INT, array + 4L * index);
    }

    private void set(long array, int index, int value) {
        memory.set(INT, array + 4L * index, value);
    }
}
