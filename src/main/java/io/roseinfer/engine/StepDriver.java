package io.roseinfer.engine;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.ProfilerRanges.Range;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.base.Check;
import io.roseinfer.base.Clock;
import io.roseinfer.metrics.StepLog;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.StepPlan;
import org.jspecify.annotations.Nullable;

/**
 * Carries plans to a runner and results back, in order, with as many steps in flight as the runner takes. The plan and the
 * outputs of the step completed last stay readable until the one after it completes.
 */
final class StepDriver {
    private final ModelRunner runner;
    private final Scheduler scheduler;
    private final StepPacker packer;
    private final StepRecorder recorder;
    private final int vocabularySize;
    private final StepInputs[] inputs;
    private final StepOutputs[] outputs;
    private final @Nullable StepPlan[] plans;
    private final Scheduler.SampledTokens sampledTokens = this::usableToken;
    private long launched;
    private long completed;

    /**
     * A driver with nothing in flight.
     *
     * @param log gets a record of every step
     */
    StepDriver(ModelRunner runner, Scheduler scheduler, Clock clock, StepLog log) {
        this.runner = runner;
        this.scheduler = scheduler;
        this.vocabularySize = runner.spec().vocabularySize();
        this.packer = new StepPacker(
                vocabularySize, runner.kv().blockSize(), runner.spec().contextLength());
        this.recorder = new StepRecorder(clock, scheduler, log, runner.maxInFlight());
        this.inputs = new StepInputs[runner.maxInFlight()];
        this.outputs = new StepOutputs[runner.maxInFlight() + 1];
        this.plans = new StepPlan[runner.maxInFlight()];
        for (int i = 0; i < inputs.length; i++) {
            inputs[i] = runner.newInputs();
        }
        for (int i = 0; i < outputs.length; i++) {
            outputs[i] = runner.newOutputs();
        }
    }

    int inFlight() {
        return (int) (launched - completed);
    }

    boolean canLaunch() {
        return inFlight() < runner.maxInFlight();
    }

    /** Says that the next step is about to be planned, so that planning is timed. */
    void begin() {
        recorder.begin();
    }

    /** Packs and submits a plan that is not empty. */
    void launch(StepPlan plan) {
        Check.that(canLaunch() && !plan.isEmpty(), "an empty step, or one too many, is launched");
        StepInputs in = inputs[(int) (launched % inputs.length)];
        recorder.planned(plan);
        runner.ranges().begin(Range.PACK);
        packer.pack(plan, in);
        runner.ranges().end();
        recorder.packed();
        runner.submit(in, outputs[(int) (launched % outputs.length)]);
        recorder.submitted();
        plans[(int) (launched % plans.length)] = plan;
        launched++;
    }

    /** Waits for the oldest step in flight and applies it; its plan then tells what each row yielded. */
    StepPlan complete() {
        recorder.awaiting();
        runner.await();
        recorder.awaited();
        StepPlan plan = retireOldest();
        scheduler.apply(plan, sampledTokens);
        recorder.applied();
        return plan;
    }

    /** Gives up the oldest step in flight, which the device has failed. */
    StepPlan abandon() {
        recorder.awaited();
        StepPlan plan = retireOldest();
        scheduler.abandon(plan);
        recorder.applied();
        return plan;
    }

    /** Waits until the device is done with all that is in flight; nothing becomes of the results. */
    void forget() {
        while (inFlight() > 0) {
            completed++;
            runner.await();
        }
    }

    private StepPlan retireOldest() {
        StepPlan plan = plans[(int) (completed % plans.length)];
        completed++;
        Check.that(plan != null, "a step completes that was not launched");
        return plan;
    }

    private int usableToken(int sample) {
        StepOutputs out = lastOutputs();
        int token = out.token(sample);
        return out.status(sample) == Status.OK && token >= 0 && token < vocabularySize ? token : StepPlan.NO_TOKEN;
    }

    /** The outputs of the step completed last. */
    StepOutputs lastOutputs() {
        return outputs[(int) ((completed - 1) % outputs.length)];
    }
}
