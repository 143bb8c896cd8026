package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Check;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Writes a step into the one piece of memory that goes up, as {@link StepLayout} lays it out. What the kernels address memory by
 * is held against the pool here: a step that is out of range is a bug of the packer before, and must not reach the device.
 *
 * <p>A layout of more rows than the step is filled up with rows that store nothing and read nothing: one token in slot -1 and a
 * context of no tokens.
 */
final class InputPacker {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

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
        for (int sample = 0; sample < layout.samples(); sample++) {
            boolean present = sample < in.samples();
            int row = present ? Check.index(in.sampleRow(sample), in.rows(), "sampled row") : sample;
            set(to, layout.sampleRows(), sample, row);
            if (present) {
                request(
                        in.sampling(sample),
                        in.contextLength(row),
                        to,
                        layout.requests() + (long) StepLayout.REQUEST_BYTES * sample);
            }
        }
        int blocks = in.blockStart(in.rows());
        for (int i = 0; i < blocks; i++) {
            set(to, layout.blocks(), i, Check.index(in.block(i), kv.blocks(), "block"));
        }
        long copies = layout.copies(blocks);
        for (int i = 0; i < in.copies(); i++) {
            set(to, copies, 2 * i, Check.index(in.copySource(i), kv.blocks(), "block copied from"));
            set(to, copies, 2 * i + 1, Check.index(in.copyTarget(i), kv.blocks(), "block copied to"));
        }
        return layout.bytes(blocks, in.copies());
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

    /** The struct SampleRequest of {@code sample.cu}; its history stays empty, since requests with penalties go to the host. */
    private static void request(SampleRequest request, int contextLength, MemorySegment to, long at) {
        SamplingParams params = request.params();
        to.set(ValueLayout.JAVA_LONG, at, request.seed());
        to.set(FLOAT, at + 8, params.temperature());
        to.set(INT, at + 12, params.topK());
        to.set(FLOAT, at + 16, params.topP());
        to.set(FLOAT, at + 20, params.minP());
        to.set(FLOAT, at + 24, 1);
        to.set(FLOAT, at + 28, 0);
        to.set(FLOAT, at + 32, 0);
        to.set(INT, at + 36, contextLength);
        to.set(INT, at + 40, 0);
        to.set(INT, at + 44, 0);
        to.set(INT, at + 48, 0);
    }

    private static void set(MemorySegment to, long array, int index, int value) {
        to.set(INT, array + 4L * index, value);
    }
}
