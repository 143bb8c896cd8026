package io.roseinfer.bench.replay;

import io.roseinfer.engine.routing.ScalePolicy;
import io.roseinfer.engine.routing.ViewAge;
import java.util.List;
import java.util.Optional;

/**
 * What happens to the engines of a simulated server during a run.
 *
 * @param deaths failures of engines
 * @param age how old the state of engines is that the policies see
 * @param scaling how many engines serve; empty if all do
 */
public record FleetPlan(List<Death> deaths, ViewAge age, Optional<Scaling> scaling) {
    /** All engines serve throughout. */
    public static final FleetPlan NONE = new FleetPlan(List.of(), ViewAge.NONE, Optional.empty());

    public FleetPlan {
        deaths = List.copyOf(deaths);
    }

    /** A failure of an engine at a time. */
    public record Death(long nanos, int engine) {}

    /**
     * The scaling of a fleet.
     *
     * @param policy chooses the number of engines
     * @param startUpNanos from the policy's choice until a further engine serves
     * @param intervalNanos between two calls of the policy; positive
     */
    public record Scaling(ScalePolicy policy, long startUpNanos, long intervalNanos) {}
}
