package io.roseinfer.bench.replay;

/**
 * All durations of a simulated server.
 *
 * @param costs costs of steps
 * @param pace pace of the machine
 * @param host durations outside of steps
 */
public record StepTimes(CostModel costs, Pace pace, HostTimes host) {
    /** Returns the end time of a step. */
    long endNanos(StepShape shape, long startNanos, long step) {
        return pace.endNanos(startNanos, costs.nanos(shape), step);
    }
}
