package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Check;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Writes a step into the one piece of memory that goes up, as {@link StepLayout} lays it out. What the kernels address memory by
 * is held against the pool here: a step that is out of range is a bug of the packer before, and must not reach the device.
 *
 * <p>A layout of more rows than the step is filled up with rows that store nothing and read nothing: one token in slot -1 and a
 * context of no tokens; whatever they sample is looked at by nobody.
 */
final class InputPacker {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private static final SampleRequest PADDING = new SampleRequest(SamplingParams.greedy(), 0, TokenHistory.NONE);

    private final int vocabulary;
    private final KvGeometry kv;

    InputPacker(int vocabulary, KvGeometry kv) {
        this.vocabulary = vocabulary;
        this.kv = kv;
    }

    /** Returns how many bytes were written. */
    long pack(StepInputs in, StepLayout layout, int number, MemorySegment to) {
        to.set(INT, layout.step(), number);
        tokens(in, layout, to);
        rows(in, layout, to);
        int blocks = in.blockStart(in.rows());
        for (int i = 0; i < blocks; i++) {
            Check.index(in.block(i), kv.blocks(), "block");
        }
        in.copyBlocks(to, layout.blocks());
        return layout.bytes(blocks, samples(in, layout, to));
    }

    /** Returns how many tokens of requests were written for their penalties. */
    private int samples(StepInputs in, StepLayout layout, MemorySegment to) {
        int blocks = in.blockStart(in.rows());
        long history = layout.history(blocks);
        int historyTokens = 0;
        for (int sample = 0; sample < in.samples(); sample++) {
            int row = Check.index(in.sampleRow(sample), in.rows(), "sampled row");
            set(to, layout.sampleRows(), sample, row);
            SampleRequest request = in.sampling(sample);
            long at = layout.requests() + (long) StepLayout.REQUEST_BYTES * sample;
            request(request, in.contextLength(row), to, at);
            if (request.params().hasPenalties()) {
                int start = layout.historyIndex(blocks) + historyTokens;
                int length = in.contextLength(row);
                history(to, at, start, length, Math.min(request.history().promptLength(), length));
                tokensOf(in, row, request.history(), to, history + 4L * historyTokens);
                historyTokens += length;
            } else {
                history(to, at, 0, 0, 0);
            }
        }
        for (int sample = in.samples(); sample < layout.samples(); sample++) {
            set(to, layout.sampleRows(), sample, sample);
            request(PADDING, 0, to, layout.requests() + (long) StepLayout.REQUEST_BYTES * sample);
            history(to, layout.requests() + (long) StepLayout.REQUEST_BYTES * sample, 0, 0, 0);
        }
        return historyTokens;
    }

    /** A row's tokens up to the one that is sampled from, which may still be on the device. */
    private void tokensOf(StepInputs in, int row, TokenHistory history, MemorySegment to, long at) {
        int last = in.contextLength(row) - 1;
        for (int i = 0; i < last; i++) {
            set(to, at, i, Check.index(history.token(i), vocabulary, "token id"));
        }
        set(to, at, last, in.tokenId(in.rowStart(row + 1) - 1));
    }

    private void tokens(StepInputs in, StepLayout layout, MemorySegment to) {
        int slots = kv.blocks() * kv.blockSize();
        for (int token = 0; token < in.tokens(); token++) {
            int id = in.tokenId(token);
            Check.index(id < 0 ? 0 : id, vocabulary, "token id");
            set(to, layout.tokenIds(), token, id);
            set(to, layout.positions(), token, in.position(token));
            set(to, layout.slots(), token, Check.index(in.slot(token), slots, "KV slot"));
        }
        for (int token = in.tokens(); token < layout.tokens(); token++) {
            set(to, layout.tokenIds(), token, 0);
            set(to, layout.positions(), token, 0);
            set(to, layout.slots(), token, -1);
        }
    }

    private void rows(StepInputs in, StepLayout layout, MemorySegment to) {
        set(to, layout.rowStarts(), 0, 0);
        set(to, layout.blockStarts(), 0, 0);
        for (int row = 0; row < in.rows(); row++) {
            int length = in.contextLength(row);
            int blocks = in.blockStart(row + 1) - in.blockStart(row);
            Check.that(blocks >= kv.blocksFor(length), "row has %d blocks for %d tokens", blocks, length);
            set(to, layout.contextLengths(), row, length);
            set(to, layout.rowStarts(), row + 1, in.rowStart(row + 1));
            set(to, layout.blockStarts(), row + 1, in.blockStart(row + 1));
        }
        for (int row = in.rows(); row < layout.rows(); row++) {
            set(to, layout.contextLengths(), row, 0);
            set(to, layout.rowStarts(), row + 1, in.tokens() + row + 1 - in.rows());
            set(to, layout.blockStarts(), row + 1, in.blockStart(in.rows()));
        }
    }

    /** The struct SampleRequest of {@code sample.cu}, but for its history. */
    private static void request(SampleRequest request, int contextLength, MemorySegment to, long at) {
        SamplingParams params = request.params();
        to.set(ValueLayout.JAVA_LONG, at, request.seed());
        to.set(FLOAT, at + 8, params.temperature());
        to.set(INT, at + 12, params.topK());
        to.set(FLOAT, at + 16, params.topP());
        to.set(FLOAT, at + 20, params.minP());
        to.set(FLOAT, at + 24, params.repetitionPenalty());
        to.set(FLOAT, at + 28, params.presencePenalty());
        to.set(FLOAT, at + 32, params.frequencyPenalty());
        to.set(INT, at + 36, contextLength);
        to.set(INT, at + 52, params.logprobs());
    }

    private static void history(MemorySegment to, long at, int start, int length, int promptLength) {
        to.set(INT, at + 40, start);
        to.set(INT, at + 44, length);
        to.set(INT, at + 48, promptLength);
    }

    private static void set(MemorySegment to, long array, int index, int value) {
        to.set(INT, array + 4L * index, value);
    }
}
