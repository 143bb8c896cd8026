package io.roseinfer.scheduler.policy;

/**
 * Composes steps of decode rows and prompts.
 *
 * <p>A policy has no state of its own: the scheduler keeps one number for it from step to step. So one policy can serve
 * many schedulers, each on its own thread. It must not leave a step empty if {@link StepBuilder#decode} or
 * {@link StepBuilder#prefill} would add to it, and must allocate no memory. The engine stops with an error that names
 * the policy if it leaves 100 consecutive steps empty while requests wait or run and no step is in flight.
 */
public interface StepPolicy {
    /**
     * Fills the next step.
     *
     * @param state the result of the previous call; 0 at first
     * @return the state for the next call
     */
    long plan(StepBuilder step, long state);

    /** Returns the state after a step that only prefilled at the request of the scheduler's caller. */
    default long afterPrefill(long state) {
        return state;
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
        public long plan(StepBuilder step, long state) {
            step.decode();
            step.prefill(Math.max(1, step.prefillMaxTokens() - step.tokens()));
            return state;
        }

        @Override
        public String toString() {
            return "mixed";
        }
    }

    /** {@link #alternating}; the state is the phase and whether the iteration has decoded. */
    record Alternating(boolean decodeFirst) implements StepPolicy {
        private static final int OPENING_DECODE = 0;
        private static final int PREFILL = 1;
        private static final int CLOSING_DECODE = 2;
        private static final int PHASES = 3;
        private static final int PHASE_MASK = 3;
        private static final int DECODED = 4;

        @Override
        public long plan(StepBuilder step, long state) {
            long next = state;
            for (int i = 0; i <= PHASES && step.isEmpty(); i++) {
                next = phase(step, next);
            }
            return next;
        }

        private long phase(StepBuilder step, long state) {
            long decoded = state & DECODED;
            return switch ((int) state & PHASE_MASK) {
                case OPENING_DECODE -> {
                    if (decodeFirst) {
                        step.decode();
                    }
                    yield PREFILL | (step.isEmpty() ? 0 : DECODED);
                }
                case PREFILL -> {
                    step.prefill(step.prefillMaxTokens());
                    yield CLOSING_DECODE | decoded;
                }
                default -> {
                    if (decoded == 0) {
                        step.decode();
                    }
                    yield OPENING_DECODE;
                }
            };
        }

        @Override
        public long afterPrefill(long state) {
            return CLOSING_DECODE | (state & DECODED);
        }

        @Override
        public String toString() {
            return "alternating";
        }
    }
}
