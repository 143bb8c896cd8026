package io.roseinfer.metrics;

import io.roseinfer.metrics.StepRecord.Fact;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * What decode steps cost the thread that drives the device, those that follow one another; steps with prompt tokens in them, and
 * those after, are left out.
 *
 * @param steps in order
 */
public record HostTime(List<Step> steps) {
    /**
     * One decode step.
     *
     * @param hostNanos planning, packing, handing over and taking in
     * @param exposedNanos of that, what the device may have stood idle for: from the results of the step before being there until
     *     this step was handed over; nothing where that was done while the step before ran
     * @param waitNanos waiting for the device with nothing else to do. If this is nothing as well, the host is the bottleneck
     */
    public record Step(long hostNanos, long exposedNanos, long waitNanos) {
        static Step of(StepRecord before, StepRecord step) {
            return new Step(
                    step.hostNanos(),
                    Math.max(0, step.submittedNanos() - before.awaitedNanos()),
                    step.get(Fact.WAIT_NANOS));
        }
    }

    public HostTime {
        steps = List.copyOf(steps);
    }

    /** Picks the steps to summarize out of an engine's records. */
    public static HostTime of(List<StepRecord> records) {
        List<Step> steps = new ArrayList<>();
        for (int i = 1; i < records.size(); i++) {
            StepRecord before = records.get(i - 1);
            StepRecord step = records.get(i);
            if (step.get(Fact.STEP) == before.get(Fact.STEP) + 1
                    && step.get(Fact.PREFILL_TOKENS) == 0
                    && before.get(Fact.PREFILL_TOKENS) == 0) {
                steps.add(Step.of(before, step));
            }
        }
        return new HostTime(steps);
    }

    /** {@link Step#hostNanos} in microseconds. */
    public Summary hostMicros() {
        return micros(Step::hostNanos);
    }

    /** {@link Step#exposedNanos} in microseconds. */
    public Summary exposedMicros() {
        return micros(Step::exposedNanos);
    }

    /** {@link Step#waitNanos} in microseconds. */
    public Summary waitMicros() {
        return micros(Step::waitNanos);
    }

    private Summary micros(ToLongFunction<Step> nanos) {
        return Summary.ofMicros(steps.stream().mapToLong(nanos).asDoubleStream());
    }
}
