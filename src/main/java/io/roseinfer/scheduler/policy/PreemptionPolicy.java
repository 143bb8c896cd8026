package io.roseinfer.scheduler.policy;

/**
 * Chooses which active request is preempted, to be recomputed later, if a request needs a KV block and none is
 * available.
 *
 * <p>May keep state, and implement {@link RequestEvents} to update it; one object serves one engine. All comparisons
 * within one choice must be consistent.
 *
 * <p>No policy can prevent progress. The candidates are the request that needs the block and all others that are in no
 * step in flight. The oldest is never a candidate, and neither is a request that has reached the maximum number of
 * restarts while there are others. Called by one thread at a time even if several replicas share it. It should not
 * allocate.
 */
public interface PreemptionPolicy {
    /** Returns which of two candidates to preempt; the victim is the winner of all comparisons. */
    RunningRequest victim(RunningRequest one, RunningRequest other, QueueView queue);

    /** Returns the policy that preempts the latest arrival, which has the least to lose. */
    static PreemptionPolicy youngest() {
        return Youngest.INSTANCE;
    }

    /** {@link #youngest}. */
    enum Youngest implements PreemptionPolicy {
        INSTANCE;

        @Override
        public RunningRequest victim(RunningRequest one, RunningRequest other, QueueView queue) {
            return one.arrival() > other.arrival() ? one : other;
        }

        @Override
        public String toString() {
            return "youngest";
        }
    }
}
