package io.roseinfer.backend.cpu;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Check;
import io.roseinfer.model.ModelSpec;

/** Holds a step against the model and the pool before a worker touches memory by it. A failure is a bug of the packer. */
final class StepCheck {
    private StepCheck() {}

    static void check(StepInputs step, ModelSpec spec, KvGeometry kv) {
        for (int row = 0; row < step.rows(); row++) {
            row(step, row, spec, kv);
        }
        for (int sample = 0; sample < step.samples(); sample++) {
            Check.index(step.sampleRow(sample), step.rows(), "sampled row");
        }
    }

    private static void row(StepInputs step, int row, ModelSpec spec, KvGeometry kv) {
        int first = step.rowStart(row);
        int end = step.rowStart(row + 1);
        int length = step.contextLength(row);
        int firstBlock = step.blockStart(row);
        int rowBlocks = step.blockStart(row + 1) - firstBlock;
        Check.that(first < end, "row %d of %d has no token", row, step.rows());
        Check.that(length <= spec.contextLength(), "row holds %d tokens, more than %d", length, spec.contextLength());
        Check.that(rowBlocks >= kv.blocksFor(length), "row has %d blocks for %d tokens", rowBlocks, length);
        for (int i = 0; i < rowBlocks; i++) {
            Check.index(step.block(firstBlock + i), kv.blocks(), "block");
        }
        for (int t = first; t < end; t++) {
            int position = length - (end - t);
            Check.index(step.tokenId(t), spec.vocabularySize(), "token id");
            Check.that(step.position(t) == position, "token at position %d, %d expected", step.position(t), position);
            int slot = step.block(firstBlock + position / kv.blockSize()) * kv.blockSize() + position % kv.blockSize();
            Check.that(step.slot(t) == slot, "token in slot %d, %d expected", step.slot(t), slot);
        }
    }
}
