package io.roseinfer.engine;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.scheduler.StepPlan;

/**
 * One step on its way: what it computes, as rows of sequences and as the device's arrays, what it yields, and what is known of it.
 * A {@link Pipeline} allocates a few and reuses them.
 */
record Flight(StepPlan plan, StepInputs inputs, StepOutputs outputs, StepRecord record) {

    /** Whether nothing was planned, so that there is nothing to launch. */
    public boolean isEmpty() {
        return plan.isEmpty();
    }
}
