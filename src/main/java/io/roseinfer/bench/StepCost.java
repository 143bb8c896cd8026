package io.roseinfer.bench;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.Summary;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What a step costs the thread that schedules it, in microseconds: the first four of decode steps, in which nobody is admitted.
 *
 * @param running requests that decode, all in every step
 * @param waiting requests that wait behind them
 * @param planMicros deciding what the step computes
 * @param packMicros writing it into the device's arrays
 * @param applyMicros taking in what it sampled
 * @param totalMicros the three together, step by step
 * @param admitMicros the three together in steps that admit one of those who wait; empty if nobody does
 */
public record StepCost(
        int running,
        int waiting,
        Summary planMicros,
        Summary packMicros,
        Summary applyMicros,
        Summary totalMicros,
        Summary admitMicros) {
    private static final double MICROS_PER_SECOND = 1e6;

    static StepCost of(int running, int waiting, List<StepRecord> steps, List<StepRecord> admitting) {
        return new StepCost(
                running,
                waiting,
                micros(steps, step -> step.get(Fact.PLAN_NANOS)),
                micros(steps, step -> step.get(Fact.PACK_NANOS)),
                micros(steps, step -> step.get(Fact.APPLY_NANOS)),
                micros(steps, StepCost::totalNanos),
                micros(admitting, StepCost::totalNanos));
    }

    private static long totalNanos(StepRecord step) {
        return step.get(Fact.PLAN_NANOS) + step.get(Fact.PACK_NANOS) + step.get(Fact.APPLY_NANOS);
    }

    private static Summary micros(List<StepRecord> steps, ToDoubleFunction<StepRecord> nanos) {
        return Summary.ofMicros(steps.stream().mapToDouble(nanos));
    }

    /** Steps that could be scheduled in a second if the device took no time: of the median step. */
    @JsonProperty("steps_per_s")
    public double stepsPerSecond() {
        return totalMicros.p50() > 0 ? MICROS_PER_SECOND / totalMicros.p50() : 0;
    }
}
