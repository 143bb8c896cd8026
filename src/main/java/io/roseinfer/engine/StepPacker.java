package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Check;
import io.roseinfer.kv.BlockTable;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;

/** The one place where a plan's sequences become a runner's arrays; every id is range-checked here, once. */
final class StepPacker {
    private final int vocabularySize;
    private final int blockSize;
    private final int[] blockIds;

    /**
     * A packer for sequences of one model.
     *
     * @param contextLength tokens of the longest sequence
     */
    StepPacker(int vocabularySize, int blockSize, int contextLength) {
        this.vocabularySize = vocabularySize;
        this.blockSize = blockSize;
        this.blockIds = new int[Math.ceilDiv(contextLength, blockSize)];
    }

    void pack(StepPlan plan, StepInputs inputs) {
        inputs.clear();
        for (int row = 0; row < plan.rows(); row++) {
            packRow(plan, row, inputs);
        }
    }

    private void packRow(StepPlan plan, int row, StepInputs inputs) {
        Sequence sequence = plan.sequence(row);
        BlockTable table = sequence.table();
        int end = plan.start(row) + plan.count(row);
        inputs.beginRow();
        for (int position = plan.start(row); position < end; position++) {
            boolean onDevice = position == end - 1 && plan.pendingSample(row) != StepPlan.KNOWN;
            int id = onDevice
                    ? ~plan.pendingSample(row)
                    : Check.index(sequence.token(position), vocabularySize, "token id");
            inputs.addToken(id, position, table.slot(position));
        }
        int blocks = Math.ceilDiv(end, blockSize);
        table.copyTo(blockIds, blocks);
        inputs.addBlocks(blockIds, blocks);
        inputs.endRow(end);
        if (plan.sample(row) != StepPlan.NO_SAMPLE) {
            inputs.sampleLastRow(sequence.sampling());
        }
    }
}
