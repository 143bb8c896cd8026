package io.roseinfer.metrics;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Host overhead of consecutive decode steps, on the thread that drives the device. Steps with prompt tokens, and steps
 * right after them, are left out.
 *
 * @param steps the steps in order
 */
public record HostTime(List<Step> steps) {
    /**
     * One decode step.
     *
     * @param hostNanos planning, packing, submitting and applying
     * @param exposedNanos host time in which the device may have been idle: from the previous step's results until this
     *     step was submitted; 0 if it was submitted while the previous step ran
     * @param waitNanos waiting for the device with nothing else to do; if this is 0 too, the host is the bottleneck
     */
    public record Step(long hostNanos, long exposedNanos, long waitNanos) {
        static Step of(StepRecord previous, StepRecord step) {
            return new Step(
                    step.hostNanos(),
                    Math.max(0, step.submittedNanos() - previous.awaitedNanos()),
                    step.get(Fact.WAIT_NANOS));
        }
    }

    public HostTime {
        steps = List.copyOf(steps);
    }

    /** Selects the decode steps from an engine's step records. */
    public static HostTime of(List<StepRecord> records) {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i < records.size(); i++) {
            StepRecord previous = records.get(i - 1);
            StepRecord step = records.get(i);
            if (step.get(Fact.STEP) == previous.get(Fact.STEP) + 1
                    && step.get(Fact.PREFILL_TOKENS) == 0
                    && previous.get(Fact.PREFILL_TOKENS) == 0) {
                steps.add(Step.of(previous, step));
            }
        }
        return new HostTime(steps);
    }

    /** Returns a summary of {@link Step#hostNanos} in microseconds. */
    public Summary hostMicros() {
        return micros(Step::hostNanos);
    }

    /** Returns a summary of {@link Step#exposedNanos} in microseconds. */
    public Summary exposedMicros() {
        return micros(Step::exposedNanos);
    }

    /** Returns a summary of {@link Step#waitNanos} in microseconds. */
    public Summary waitMicros() {
        return micros(Step::waitNanos);
    }

    private Summary micros(ToLongFunction<Step> nanos) {
        return Summary.ofMicros(steps.stream().mapToLong(nanos).asDoubleStream());
    }
}
