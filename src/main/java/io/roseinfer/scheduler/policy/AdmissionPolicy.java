package io.roseinfer.scheduler.policy;

import io.roseinfer.base.RoseException.BadInput;

/**
 * Which waiting requests an iteration admits first. An iteration of an engine looks at the {@link #lookahead} requests that have waited
 * longest, of all that no engine has admitted and that the routing has not bound to another, offers them in ascending {@link #rank}, oldest first on a tie, and admits each that fits what is left of the token
 * budget and the KV pool.
 *
 * <p>Nobody starves, whatever a policy says. A request is passed over when an iteration admits one that came later and leaves it
 * waiting; that happens to no request more than {@value #MAX_PASSES} times. Then it holds the line, as one that starts over does:
 * it is offered before all that have no such right, the oldest first, and until it is admitted nobody is who comes after it.
 *
 * <p>This is the place for scheduling research: implement it, hand it to {@code SchedulerOptions}. It is called once per
 * request in sight and iteration, by one thread at a time, also if several engines share it; it must answer the same for the same
 * arguments and allocate nothing.
 */
public interface AdmissionPolicy {
    /** How often a request may be passed over. */
    int MAX_PASSES = 64;

    /** Most requests that {@link #pack} may choose from. */
    int MAX_LOOKAHEAD = 1 << 16;

    /** Requests that are looked at, counted from the oldest; {@link Integer#MAX_VALUE} looks at all that wait. */
    int lookahead();

    /** The place of a request in this iteration; lower is earlier. */
    long rank(WaitingRequest request, QueueView queue);

    /**
     * Whether a request that does not fit keeps those after it waiting too, in this iteration. A strict iteration lasts until the
     * first request it offers is admitted: before that the next one has the same number.
     */
    default boolean isStrict(QueueView queue) {
        return false;
    }

    /** Strictly in order of arrival. */
    static AdmissionPolicy fifo() {
        return Fifo.INSTANCE;
    }

    /**
     * Shortest first among the {@code lookahead} oldest, so that more requests fit the token budget. Being passed over once
     * counts as {@value Pack#AGING_TOKENS} tokens less; every {@code forceFifoEvery}-th iteration (0: never) is strictly in
     * order of arrival.
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
                    forceFifoEvery >= 0,
                    "prefill_force_fifo_every",
                    forceFifoEvery,
                    "non-negative, and 0 never forces it");
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
