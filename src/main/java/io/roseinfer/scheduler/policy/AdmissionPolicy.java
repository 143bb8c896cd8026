package io.roseinfer.scheduler.policy;

import io.roseinfer.base.RoseException.BadInput;

/**
 * Chooses which waiting requests an iteration admits first, and which it holds back. An iteration considers the {@link #lookahead} oldest
 * requests that its replica may admit: all waiting ones that the routing has not bound to another replica. It offers them
 * in ascending {@link #rank}, the oldest first on a tie, and admits each that fits into the token budget and the KV
 * pool and is not {@link #holds held}.
 *
 * <p>No policy can starve a request, unless the option {@code maxPasses} is unlimited. A request is passed over if an
 * iteration admits a later one and leaves it waiting. After {@code maxPasses} passes it blocks the queue, as requests do
 * that were preempted for lack of KV blocks: such requests are offered first, the oldest first, and no later request is
 * admitted before them. Requests that a policy chose to preempt are ranked like others.
 *
 * <p>This is the extension point for scheduling research: implement it and pass it to {@code SchedulerOptions}. It
 * ranks each considered request once per iteration, the preempted requests first, then the others in order of arrival.
 * One thread at a time calls it even if several replicas share it. It may keep state, and implement {@link RequestEvents} to
 * update it; one object serves one engine. It should not allocate in a step.
 */
public interface AdmissionPolicy {
    /** Default maximum number of times a request may be passed over; the option {@code maxPasses} changes it. */
    int MAX_PASSES = 64;

    /** Maximum requests that {@link #pack} may choose from. */
    int MAX_LOOKAHEAD = 1 << 16;

    /** Returns how many of the oldest requests are considered, at least 1; {@link Integer#MAX_VALUE} considers all that wait. */
    int lookahead();

    /** Returns the rank of a request in this iteration; lower is earlier. */
    long rank(WaitingRequest request, QueueView queue);

    /**
     * Returns whether a request that does not fit keeps later ones waiting in this iteration. A strict iteration lasts
     * until the first request it offers is admitted; until then the iteration number does not change.
     */
    default boolean isStrict(QueueView queue) {
        return false;
    }

    /**
     * Returns whether to keep a request waiting in this iteration although it may fit, for example until load falls. Later
     * ones are then admitted before it, which are passes.
     *
     * <p>Called in order of rank, after the admissions before it, and only while requests run on the replica: if none does,
     * the first one is admitted, so that there is always progress. Held requests are ranked again in the next iteration;
     * those that block the queue are not held.
     */
    default boolean holds(WaitingRequest request, QueueView queue) {
        return false;
    }

    /** Returns the policy that admits strictly in order of arrival. */
    static AdmissionPolicy fifo() {
        return Fifo.INSTANCE;
    }

    /**
     * Returns the policy that admits the shortest of the {@code lookahead} oldest requests first, so that more fit into
     * the token budget. Each pass makes a request count as {@value Pack#AGING_TOKENS} tokens shorter; every
     * {@code forceFifoEvery}-th iteration (0: never) is strictly in order of arrival.
     */
    static AdmissionPolicy pack(int lookahead, int forceFifoEvery) {
        return new Pack(lookahead, forceFifoEvery);
    }

    /** {@link #fifo}. */
    enum Fifo implements AdmissionPolicy {
        INSTANCE;

        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }

        @Override
        public boolean isStrict(QueueView queue) {
            return true;
        }

        @Override
        public String toString() {
            return "fifo";
        }
    }

    /** {@link #pack}. */
    record Pack(int lookahead, int forceFifoEvery) implements AdmissionPolicy {
        static final int AGING_TOKENS = 16;

        public Pack {
            BadInput.require(
                    lookahead >= 1 && lookahead <= MAX_LOOKAHEAD,
                    "prefill_admission_lookahead",
                    lookahead,
                    "1 to " + MAX_LOOKAHEAD);
            BadInput.require(
                    forceFifoEvery >= 0, "prefill_force_fifo_every", forceFifoEvery, "non-negative; 0 disables it");
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return isStrict(queue) ? 0 : request.remainingTokens() - (long) AGING_TOKENS * request.timesPassedOver();
        }

        @Override
        public boolean isStrict(QueueView queue) {
            return forceFifoEvery > 0 && queue.iteration() % forceFifoEvery == 0;
        }

        @Override
        public String toString() {
            return "pack";
        }
    }
}
