package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.StepInputs;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * KV blocks as the kernels see them: pages of 16 tokens if the block size is a multiple of 16. Such a block is a run of consecutive
 * pages, so every multiple of 16 uses the same fast attention kernels with the same order of additions. That includes contiguous
 * attention, whose blocks are as long as the context.
 *
 * @param tokens tokens per page
 * @param perBlock pages per block
 */
record KvPages(int tokens, int perBlock) {
    /** Page size of the fast kernels. */
    static final int TOKENS = 16;

    static KvPages of(int blockSize) {
        return blockSize % TOKENS == 0 ? new KvPages(TOKENS, blockSize / TOKENS) : new KvPages(blockSize, 1);
    }

    /** Returns a pool's geometry in pages; the same bytes. */
    KvGeometry of(KvGeometry blocks) {
        return new KvGeometry(tokens, blocks.blocks() * perBlock, blocks.bytesPerBlock() / perBlock);
    }

    /** Returns the maximum pages of a row of {@code rowTokens}. */
    int most(int rowTokens) {
        return Math.ceilDiv(rowTokens, tokens);
    }

    /** Returns the pages of the prompts: of all rows but decode rows. */
    long ofPrompts(StepInputs in, KernelRows rows) {
        long pages = 0;
        for (int row = 0; row < in.rows(); row++) {
            pages += isPrompt(in, rows, row) ? most(in.contextLength(row)) : 0;
        }
        return pages;
    }

    private static boolean isPrompt(StepInputs in, KernelRows rows, int row) {
        return rows.parts(in, row) == 1 && in.rowStart(row + 1) - in.rowStart(row) > 1;
    }

    /**
     * Writes each row's pages, and for each kernel row the index of its row's first page.
     *
     * @param promptsFirst whether prompts precede decode rows in the list of pages; else it has the order of rows
     * @return the number of pages of all rows
     */
    int copy(StepInputs in, KernelRows rows, boolean promptsFirst, MemorySegment to, long startsAt, long pagesAt) {
        if (promptsFirst && rows.decodeRows() > 0 && rows.decodeRows() < rows.rows()) {
            int prompts = copySome(in, rows, true, 0, to, startsAt, pagesAt);
            return copySome(in, rows, false, prompts, to, startsAt, pagesAt);
        }
        if (perBlock == 1) {
            in.copyBlocks(to, pagesAt);
        }
        int written = 0;
        int kernelRow = 0;
        for (int row = 0; row < in.rows(); row++) {
            for (int part = 0; part < rows.parts(in, row); part++) {
                set(to, startsAt, kernelRow++, written);
            }
            written += perBlock == 1
                    ? in.blockStart(row + 1) - in.blockStart(row)
                    : copyPages(in, row, to, pagesAt, written);
        }
        set(to, startsAt, kernelRow, written);
        return written;
    }

    /** Writes the pages of prompts or of decode rows after {@code written} others; returns the pages written so far. */
    private int copySome(
            StepInputs in,
            KernelRows rows,
            boolean prompts,
            int written,
            MemorySegment to,
            long startsAt,
            long pagesAt) {
        int end = written;
        int kernelRow = 0;
        for (int row = 0; row < in.rows(); row++) {
            int parts = rows.parts(in, row);
            if (isPrompt(in, rows, row) == prompts) {
                for (int part = 0; part < parts; part++) {
                    set(to, startsAt, kernelRow + part, end);
                }
                end += copyPages(in, row, to, pagesAt, end);
            }
            kernelRow += parts;
        }
        set(to, startsAt, kernelRow, end);
        return end;
    }

    private int copyPages(StepInputs in, int row, MemorySegment to, long pagesAt, int written) {
        int pages = most(in.contextLength(row));
        for (int page = 0; page < pages; page++) {
            int block = in.block(in.blockStart(row) + page / perBlock);
            set(to, pagesAt, written + page, block * perBlock + page % perBlock);
        }
        return pages;
    }

    private static void set(MemorySegment to, long array, int index, int value) {
        to.set(ValueLayout.JAVA_INT, array + 4L * index, value);
    }
}
