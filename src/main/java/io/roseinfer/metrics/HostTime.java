package io.roseinfer.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What decode steps cost the thread that drives the device, in microseconds per step.
 *
 * @param hostMicros planning, packing, handing over and taking in
 * @param exposedMicros of that, what the device may have stood idle for: from the results of the step before being there until
 *     this step was handed over; nothing where that was done while the step before ran
 * @param waitMicros waiting for the device with nothing else to do. Where this is nothing too, the device waited for the host
 *     rather than the other way round
 */
public record HostTime(Summary hostMicros, Summary exposedMicros, Summary waitMicros) {
    private static final double NANOS_PER_MICRO = 1e3;

    private record Pair(StepRecord before, StepRecord step) {
        double exposedNanos() {
            return Math.max(0, step.submittedNanos() - before.awaitedNanos());
        }
    }

    /** Summarizes the decode steps that follow one another; steps with prompt tokens in them, and those after, are left out. */
    public static HostTime of(List<StepRecord> steps) {
        List<Pair> pairs = new ArrayList<>();
        for (int i = 1; i < steps.size(); i++) {
            StepRecord before = steps.get(i - 1);
            StepRecord step = steps.get(i);
            if (step.step() == before.step() + 1 && step.prefillTokens() == 0 && before.prefillTokens() == 0) {
                pairs.add(new Pair(before, step));
            }
        }
        return new HostTime(
                micros(pairs, pair -> pair.step().hostNanos()),
                micros(pairs, Pair::exposedNanos),
                micros(pairs, pair -> pair.step().waitNanos()));
    }

    private static Summary micros(List<Pair> pairs, ToDoubleFunction<Pair> nanos) {
        return Summary.of(pairs.stream()
                .mapToDouble(nanos)
                .map(value -> value / NANOS_PER_MICRO)
                .toArray());
    }
}
