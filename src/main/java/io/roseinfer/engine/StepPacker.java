package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;

/** Makes a runner's arrays of a plan's sequences. */
final class StepPacker {
    private StepPacker() {}

    /** Writes a plan into the inputs, which held another step before. */
    public static void pack(StepPlan plan, StepInputs inputs) {
        inputs.clear();
        for (int row = 0; row < plan.rows(); row++) {
            packRow(plan, row, inputs);
        }
    }

    private static void packRow(StepPlan plan, int row, StepInputs inputs) {
        Sequence sequence = plan.sequence(row);
        int end = plan.start(row) + plan.count(row);
        inputs.beginRow(plan.start(row), sequence.table().idsFor(end));
        for (int position = plan.start(row); position < end; position++) {
            boolean onDevice = position == end - 1 && plan.pendingSample(row) != StepPlan.KNOWN;
            inputs.addToken(onDevice ? ~plan.pendingSample(row) : sequence.token(position));
        }
        inputs.endRow();
        if (plan.sample(row) != StepPlan.NO_SAMPLE) {
            inputs.sampleLastRow(sequence.sampling());
        }
    }
}
