package io.roseinfer.backend;

import io.roseinfer.backend.ProfilerRanges.Range;
import io.roseinfer.base.Clock;
import io.roseinfer.model.ModelSpec;
import java.util.List;
import java.util.Optional;

/** A runner whose steps a profiler sees. */
public final class RangedRunner implements ModelRunner {
    private final ModelRunner runner;
    private final ProfilerRanges ranges;

    /** Takes ownership of {@code runner}. */
    public RangedRunner(ModelRunner runner, ProfilerRanges ranges) {
        this.runner = runner;
        this.ranges = ranges;
    }

    @Override
    public ProfilerRanges ranges() {
        return ranges;
    }

    @Override
    public void submit(StepInputs inputs, StepOutputs outputs) {
        Range range = inputs.tokens() == inputs.rows() ? Range.DECODE : Range.PREFILL;
        ranges.begin(range, inputs.rows(), inputs.tokens());
        try {
            runner.submit(inputs, outputs);
        } finally {
            ranges.end();
        }
    }

    @Override
    public void await() {
        ranges.begin(Range.SAMPLE);
        try {
            runner.await();
        } finally {
            ranges.end();
        }
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
    public void warmUp(long budgetNanos) {
        runner.warmUp(budgetNanos);
    }

    @Override
    public Optional<StepProfiler> profile(Clock clock) {
        return runner.profile(clock);
    }

    @Override
    public Optional<Precision> precision() {
        return runner.precision();
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
