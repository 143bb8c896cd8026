package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cuda.SampleStructs.Request;
import io.roseinfer.base.Check;
import io.roseinfer.base.TokenMask;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.TokenHistory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Packs a checked step into upload buffers: the inputs of its pass as {@link StepLayout} lays them out, the sampling kernel's as
 * {@link SampleLayout} does.
 *
 * <p>If the layout has more rows than the step, adds padding rows: one token in slot -1 and an empty context. No samples are drawn from
 * their logits.
 */
final class InputPacker {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private final int vocabulary;
    private final KvPages pages;
    private final boolean promptsFirst;
    /** Scratch: context lengths, negative, and rows. */
    private long[] byContext = {};

    InputPacker(int vocabulary, KvPages pages) {
        this(vocabulary, pages, false);
    }

    /** @param promptsFirst see {@link KvPages#copy} */
    InputPacker(int vocabulary, KvPages pages, boolean promptsFirst) {
        this.vocabulary = vocabulary;
        this.pages = pages;
        this.promptsFirst = promptsFirst;
    }

    /** Packs the inputs of a pass and returns the bytes written. */
    long pack(StepInputs in, KernelRows rows, StepLayout layout, int number, MemorySegment to) {
        to.set(INT, StepLayout.STEP, number);
        tokens(in, layout, to);
        int blocks = pages.copy(in, rows, promptsFirst, to, layout.blockStarts(), layout.blocks());
        rows(in, rows, layout, to);
        padRows(in, rows, layout, blocks, to);
        orderRows(layout, to);
        in.copySampleTokens(to, layout.sampleTokens());
        for (int sample = in.samples(); sample < layout.samples(); sample++) {
            set(to, layout.sampleTokens(), sample, sample);
        }
        return layout.bytes(blocks);
    }

    /** Packs the inputs of the sampling kernel and returns the bytes written. */
    long packSamples(StepInputs in, MemorySegment to) {
        SampleLayout layout = new SampleLayout(in.samples());
        int words = requests(in, layout, to);
        return layout.bytes(constraints(in, layout, words, to));
    }

    /**
     * Packs sampling parameters and returns the number of history tokens written for penalties. The samples of a row share its history: each
     * reads it up to its own token.
     */
    private int requests(StepInputs in, SampleLayout layout, MemorySegment to) {
        int historyTokens = 0;
        int row = -1;
        int start = 0;
        for (int sample = 0; sample < in.samples(); sample++) {
            SampleRequest request = in.sampling(sample);
            int length = in.sampleLength(sample);
            long at = layout.request(sample);
            Request.write(request, length, in.reported(sample), to, at);
            if (request.params().hasPenalties()) {
                if (in.sampleRow(sample) != row) {
                    row = in.sampleRow(sample);
                    start = historyTokens;
                }
                tokensOf(in, row, request.history(), historyTokens - start, length, to, layout.bytes(start));
                historyTokens = start + length;
                Request.writeHistory(
                        to, at, start, length, Math.min(request.history().promptLength(), length));
            } else {
                Request.writeHistory(to, at, 0, 0, 0);
            }
        }
        return historyTokens;
    }

    /** Writes masks and biases to the tail from {@code words} on; returns the words of the tail. */
    private static int constraints(StepInputs in, SampleLayout layout, int words, MemorySegment to) {
        int end = words;
        for (int sample = 0; sample < in.samples(); sample++) {
            TokenMask mask = in.mask(sample);
            if (mask != null) {
                int same = sampleWith(mask, in, sample);
                if (same == sample) {
                    mask.copyTo(to, layout.bytes(end));
                    Request.writeMask(to, layout.request(sample), end);
                    end += TokenMask.words(mask.vocabularySize());
                } else {
                    int start = Request.maskStart(to, layout.request(same));
                    Request.writeMask(to, layout.request(sample), start);
                }
            }
            end += biases(in, sample, layout, end, to);
        }
        return end;
    }

    /** Returns the first sample with the same mask object. */
    private static int sampleWith(TokenMask mask, StepInputs in, int last) {
        int sample = 0;
        while (sample < last && in.mask(sample) != mask) {
            sample++;
        }
        return sample;
    }

    /** Writes a sample's biases, if it has any, as their number, token ids and values; returns the words written. */
    private static int biases(StepInputs in, int sample, SampleLayout layout, int word, MemorySegment to) {
        int first = in.biasStart(sample);
        int count = in.biasStart(sample + 1) - first;
        if (count == 0) {
            return 0;
        }
        long at = layout.bytes(word);
        Request.writeBiases(to, layout.request(sample), word);
        set(to, at, 0, count);
        for (int i = 0; i < count; i++) {
            set(to, at, 1 + i, in.biasToken(first + i));
            set(to, at, 1 + count + i, Float.floatToRawIntBits(in.bias(first + i)));
        }
        return SampleLayout.biasWords(count);
    }

    /** Writes tokens {@code from … end - 1} of a row's sequence; the row's own may still be on the device. */
    private void tokensOf(StepInputs in, int row, TokenHistory history, int from, int end, MemorySegment to, long at) {
        int first = in.position(in.rowStart(row));
        for (int i = from; i < Math.min(first, end); i++) {
            set(to, at, i, Check.index(history.token(i), vocabulary, "token id"));
        }
        for (int i = Math.max(from, first); i < end; i++) {
            set(to, at, i, in.tokenId(in.rowStart(row) + i - first));
        }
    }

    private static void tokens(StepInputs in, StepLayout layout, MemorySegment to) {
        in.copyTokens(to, layout.tokenIds(), layout.positions(), layout.slots());
        for (int token = in.tokens(); token < layout.tokens(); token++) {
            set(to, layout.tokenIds(), token, 0);
            set(to, layout.positions(), token, 0);
            set(to, layout.slots(), token, -1);
        }
    }

    private static void rows(StepInputs in, KernelRows rows, StepLayout layout, MemorySegment to) {
        if (rows.rows() == in.rows()) {
            in.copyRows(to, layout.rowStarts(), layout.contextLengths());
            return;
        }
        int kernelRow = 0;
        set(to, layout.rowStarts(), 0, 0);
        for (int row = 0; row < in.rows(); row++) {
            for (int after = rows.parts(in, row) - 1; after >= 0; after--) {
                set(to, layout.contextLengths(), kernelRow, in.contextLength(row) - after);
                set(to, layout.rowStarts(), ++kernelRow, in.rowStart(row + 1) - after);
            }
        }
    }

    private static void padRows(StepInputs in, KernelRows rows, StepLayout layout, int blocks, MemorySegment to) {
        for (int row = rows.rows(); row < layout.rows(); row++) {
            set(to, layout.contextLengths(), row, 0);
            set(to, layout.rowStarts(), row + 1, in.tokens() + row + 1 - rows.rows());
            set(to, layout.blockStarts(), row + 1, blocks);
        }
    }

    /** Writes the rows by descending context: thread blocks that start late with a long context would run alone at the end. */
    private void orderRows(StepLayout layout, MemorySegment to) {
        int rows = layout.rows();
        if (byContext.length < rows) {
            byContext = new long[rows];
        }
        for (int row = 0; row < rows; row++) {
            long context = to.get(INT, layout.contextLengths() + 4L * row);
            byContext[row] = -context << Integer.SIZE | row;
        }
        Arrays.sort(byContext, 0, rows);
        for (int i = 0; i < rows; i++) {
            set(to, layout.rowOrder(), i, (int) byContext[i]);
        }
    }

    private static void set(MemorySegment to, long array, int index, int value) {
        to.set(INT, array + 4L * index, value);
    }
}
