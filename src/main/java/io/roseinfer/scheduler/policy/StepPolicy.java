package io.roseinfer.scheduler.policy;

/**
 * Composes steps of decode rows and prompts.
 *
 * <p>May keep state; one object serves one engine. Each replica plans on its own thread with the object of
 * {@link #forScheduler}. An object that is also an admission, preemption or eviction policy, or implements {@link RequestEvents},
 * is called by one thread at a time.
 *
 * <p>It must not leave a step empty if {@link StepBuilder#decode} or {@link StepBuilder#prefill} would add to it, and should
 * not allocate. The engine stops with an error that names the policy if it leaves 100 consecutive steps empty
 * while requests wait or run and no step is in flight.
 */
@FunctionalInterface
public interface StepPolicy {
    /** Fills the next step. */
    void plan(StepBuilder step);

    /** Updates the state after a step that only prefilled at the request of the scheduler's caller. */
    default void afterPrefill() {}

    /**
     * Returns the policy of one scheduler, called once for each. A policy with state returns a new object, unless the
     * replicas are to share its state. {@link RequestEvents} go to this object, not to the returned one.
     *
     * {@snippet :
     * public StepPolicy forScheduler(int index) {
     *     return new SpacedPrompts(between); // counts the steps of one replica
     * }
     * }
     *
     * @param index the replica's number, from 0
     */
    default StepPolicy forScheduler(int index) {
        return this;
    }

    /** Returns {@link #mixed} with chunked prefill, otherwise {@link #alternating}. */
    static StepPolicy standard(boolean chunkedPrefill, boolean decodeFirst) {
        return chunkedPrefill ? mixed() : alternating(decodeFirst);
    }

    /** Returns the policy whose iterations have one prefill step, and one decode step before or after it. */
    static StepPolicy alternating(boolean decodeFirst) {
        return new Alternating(decodeFirst);
    }

    /**
     * Returns the policy that decodes in every step. Prompts get the rest of the budget, and at least one token, so
     * that neither starves. Requires chunked prefill.
     */
    static StepPolicy mixed() {
        return Mixed.INSTANCE;
    }

    /** {@link #mixed}. */
    enum Mixed implements StepPolicy {
        INSTANCE;

        @Override
        public void plan(StepBuilder step) {
            step.decode();
            step.prefill(Math.max(1, step.prefillMaxTokens() - step.tokens()));
        }

        @Override
        public String toString() {
            return "mixed";
        }
    }

    /** {@link #alternating}. */
    final class Alternating implements StepPolicy {
        private enum Phase {
            OPENING_DECODE,
            PREFILL,
            CLOSING_DECODE
        }

        private static final int PHASES = Phase.values().length;

        private final boolean decodeFirst;
        private Phase phase = Phase.OPENING_DECODE;
        /** Whether the iteration has decoded. */
        private boolean decoded;

        Alternating(boolean decodeFirst) {
            this.decodeFirst = decodeFirst;
        }

        @Override
        public StepPolicy forScheduler(int index) {
            return new Alternating(decodeFirst);
        }

        @Override
        public void plan(StepBuilder step) {
            for (int i = 0; i <= PHASES && step.isEmpty(); i++) {
                runPhase(step);
            }
        }

        private void runPhase(StepBuilder step) {
            switch (phase) {
                case OPENING_DECODE -> {
                    if (decodeFirst) {
                        step.decode();
                    }
                    decoded = !step.isEmpty();
                    phase = Phase.PREFILL;
                }
                case PREFILL -> {
                    step.prefill(step.prefillMaxTokens());
                    phase = Phase.CLOSING_DECODE;
                }
                case CLOSING_DECODE -> {
                    if (!decoded) {
                        step.decode();
                    }
                    phase = Phase.OPENING_DECODE;
                }
            }
        }

        @Override
        public void afterPrefill() {
            phase = Phase.CLOSING_DECODE;
        }

        @Override
        public String toString() {
            return "alternating";
        }
    }
}
