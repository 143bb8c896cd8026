package io.roseinfer.scheduler.policy;

/**
 * Which active request gives its KV blocks back and starts over when one of them needs a block and none is left.
 *
 * <p>Somebody always advances, whatever a policy says. The candidates are the request that needs the block and all others that are
 * part of no step; the oldest is never one of them, and neither is a request that has started over as often as it may while there
 * is another. Called by one thread at a
 * time, also if several engines share it; must answer the same for the same arguments and allocate nothing.
 */
public interface PreemptionPolicy {
    /** The one of two that is to give its blocks back; of all candidates the one that is left is the victim. */
    RunningRequest victim(RunningRequest one, RunningRequest other);

    /** The one that arrived last: it has the least to lose. */
    static PreemptionPolicy youngest() {
        return Youngest.INSTANCE;
    }

    /** {@link #youngest}. */
    enum Youngest implements PreemptionPolicy {
        INSTANCE;

        @Override
        public RunningRequest victim(RunningRequest one, RunningRequest other) {
            return one.arrival() > other.arrival() ? one : other;
        }

        @Override
        public String toString() {
            return "youngest";
        }
    }
}
