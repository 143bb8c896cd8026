package io.roseinfer.bench;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.Summary;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The scheduling thread's time per step in microseconds. All but {@code admitMicros} are of decode steps without admissions.
 *
 * @param running requests decoding in every step
 * @param waiting requests in the queue
 * @param planMicros time to plan a step
 * @param packMicros time to write the step into the device's arrays
 * @param applyMicros time to apply the sampled tokens
 * @param totalMicros sum of the three for each step
 * @param admitMicros the same sum for steps that admit a waiting request; empty without waiting requests
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

    /** Returns the steps per second that the median step allows if the device takes no time. */
    @JsonProperty("steps_per_s")
    public double stepsPerSecond() {
        return totalMicros.p50() > 0 ? MICROS_PER_SECOND / totalMicros.p50() : 0;
    }
}
