package io.roseinfer.bench.replay;

/**
 * Everything that takes time on a simulated server.
 *
 * @param costs of steps
 * @param pace of the machine
 * @param host outside of steps
 */
public record StepTimes(CostTable costs, Pace pace, HostTimes host) {
    /** When a step ends. */
    long endNanos(StepShape shape, long startNanos, long step) {
        return pace.endNanos(startNanos, costs.nanos(shape), step);
    }
}
