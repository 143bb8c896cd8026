package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.StepInputs;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The KV blocks as the kernels see them: pages of 16 tokens wherever a block of the pool is a multiple of that. Such a block is a
 * run of pages, one behind the other in memory, so every multiple of 16 runs the same attention kernels, which are fast over 16, and
 * adds in the same order. Attention that is not paged, whose blocks are as long as the context, differs in nothing else either.
 *
 * @param tokens tokens of a page
 * @param perBlock pages of a block
 */
record KvPages(int tokens, int perBlock) {
    /** Tokens of the pages that the kernels are fast over. */
    static final int TOKENS = 16;

    static KvPages of(int blockSize) {
        return blockSize % TOKENS == 0 ? new KvPages(TOKENS, blockSize / TOKENS) : new KvPages(blockSize, 1);
    }

    /** A pool of blocks, as one of pages: the same bytes. */
    KvGeometry of(KvGeometry blocks) {
        return new KvGeometry(tokens, blocks.blocks() * perBlock, blocks.bytesPerBlock() / perBlock);
    }

    /** Most pages that a row of so many tokens has. */
    int most(int rowTokens) {
        return Math.ceilDiv(rowTokens, tokens);
    }

    /**
     * Writes the pages of each row, and where each row's begin.
     *
     * @return how many pages all rows have
     */
    int copy(StepInputs in, MemorySegment to, long startsAt, long pagesAt) {
        if (perBlock == 1) {
            in.copyBlockStarts(to, startsAt);
            in.copyBlocks(to, pagesAt);
            return in.blockStart(in.rows());
        }
        int written = 0;
        for (int row = 0; row < in.rows(); row++) {
            set(to, startsAt, row, written);
            int pages = most(in.contextLength(row));
            for (int page = 0; page < pages; page++) {
                int block = in.block(in.blockStart(row) + page / perBlock);
                set(to, pagesAt, written + page, block * perBlock + page % perBlock);
            }
            written += pages;
        }
        set(to, startsAt, in.rows(), written);
        return written;
    }

    private static void set(MemorySegment to, long array, int index, int value) {
        to.set(ValueLayout.JAVA_INT, array + 4L * index, value);
    }
}
