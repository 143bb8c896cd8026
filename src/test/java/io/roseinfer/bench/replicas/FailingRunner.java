package io.roseinfer.bench.replicas;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.MemoryUse;
import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.model.ModelSpec;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A runner whose device is lost after a number of steps, once. The steps in flight are awaited first, so that another engine can use the
 * runner afterwards.
 */
final class FailingRunner implements ModelRunner {
    private final ModelRunner runner;
    /** Steps until the failure; a negative number is none. */
    private final AtomicLong stepsLeft = new AtomicLong(-1);

    private int inFlight;

    /** Creates a runner that does not fail until {@link #failAfter} is called. */
    FailingRunner(ModelRunner runner) {
        this.runner = runner;
    }

    /** Makes the device fail after {@code steps} more steps, or not at all if that is negative. May be called from any thread. */
    void failAfter(long steps) {
        stepsLeft.set(steps);
    }

    @Override
    public void submit(StepInputs inputs, StepOutputs outputs) {
        runner.submit(inputs, outputs);
        inFlight++;
    }

    @Override
    public void submitPass(StepInputs inputs, StepOutputs outputs) {
        runner.submitPass(inputs, outputs);
        inFlight++;
    }

    @Override
    public void submitSampling(StepInputs inputs, StepOutputs outputs) {
        runner.submitSampling(inputs, outputs);
    }

    @Override
    public void await() {
        if (stepsLeft.get() >= 0 && stepsLeft.getAndDecrement() == 0) {
            while (inFlight > 0) {
                awaitOldest();
            }
            throw new DeviceFailure("the device was made to fail", false);
        }
        awaitOldest();
    }

    private void awaitOldest() {
        inFlight--;
        runner.await();
    }

    @Override
    public ModelSpec spec() {
        return runner.spec();
    }

    @Override
    public KvGeometry kv() {
        return runner.kv();
    }

    @Override
    public RunnerLimits limits() {
        return runner.limits();
    }

    @Override
    public int maxInFlight() {
        return runner.maxInFlight();
    }

    @Override
    public StepInputs newInputs() {
        return runner.newInputs();
    }

    @Override
    public StepOutputs newOutputs() {
        return runner.newOutputs();
    }

    @Override
    public List<MemoryUse> memory() {
        return runner.memory();
    }

    @Override
    public void close() {
        runner.close();
    }
}
