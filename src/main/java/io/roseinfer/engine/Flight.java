package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.StepPlan;

/** A step in flight: its plan, device inputs, outputs and record. A {@link Pipeline} reuses a few of them. */
record Flight(StepPlan plan, StepInputs inputs, StepOutputs outputs, WritableStep record) {

    /** Returns whether the plan is empty, so that there is nothing to launch. */
    boolean isEmpty() {
        return plan.isEmpty();
    }

    /** Writes the plan into the device inputs, without masks and biases if the plan {@link StepPlan#samplesLater}. */
    void pack() {
        inputs.clear();
        for (int row = 0; row < plan.rows(); row++) {
            packRow(row);
        }
    }

    private void packRow(int row) {
        Sequence sequence = plan.sequence(row);
        int end = plan.start(row) + plan.count(row);
        int first = inputs.tokens() - plan.start(row);
        inputs.beginRow(plan.start(row), sequence.table().idsFor(end));
        int position = plan.start(row);
        if (!inputs.hasAllTokens()) {
            int sampled = plan.samples(row) == 0 ? end : plan.firstTarget(row) - 1;
            inputs.skipTokens(sampled - position);
            position = sampled;
        }
        for (; position < end; position++) {
            boolean onDevice = position == end - 1 && plan.pendingSample(row) != StepPlan.KNOWN;
            inputs.addToken(onDevice ? ~plan.pendingSample(row) : sequence.token(position));
        }
        inputs.endRow();
        for (int i = 0; i < plan.samples(row); i++) {
            int target = plan.firstTarget(row) + i;
            sample(sequence, target, first + target - 1);
        }
    }

    /** Requests the sample of a sequence's token {@code target}, which follows {@code token} of the step. */
    private void sample(Sequence sequence, int target, int token) {
        if (target < sequence.promptLength()) {
            inputs.report(token, sequence.reporting(), sequence.token(target));
        } else {
            inputs.sample(token, sequence.sampling());
            if (!plan.samplesLater()) {
                constrain(sequence, target);
            }
        }
    }

    /** Sets the masks and biases of the draw of a sequence's token {@code target}. */
    private void constrain(Sequence sequence, int target) {
        sequence.constraints().apply(sequence, target, inputs);
        sequence.masks().apply(target - sequence.length(), inputs);
    }

    /** Sets masks and biases of a packed step; a row whose mask is not ready draws nothing. */
    void constrain(Scheduler scheduler) {
        for (int row = 0; row < plan.rows(); row++) {
            Sequence sequence = plan.sequence(row);
            if (!plan.draws(row) || sequence.finishReason().isPresent()) {
                continue;
            }
            if (sequence.masks().isReady()) {
                constrainDraws(row, sequence);
            } else {
                scheduler.skipDraw(plan, row);
            }
        }
    }

    private void constrainDraws(int row, Sequence sequence) {
        for (int i = plan.reports(row); i < plan.samples(row); i++) {
            inputs.constrain(plan.firstSample(row) + i);
            constrain(sequence, plan.firstTarget(row) + i);
        }
    }
}
