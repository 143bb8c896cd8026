package io.roseinfer.scheduler.policy;

/**
 * In which order decode rows and prompts make up steps.
 *
 * <p>A policy has no state of its own: what it has to remember from step to step is a number that the scheduler keeps for it, so one
 * policy can serve many schedulers, each on a thread of its own. It must not leave a step empty if {@link StepBuilder#decode} or
 * {@link StepBuilder#prefill} would add to it, and must allocate nothing. A policy that leaves 100 steps in a row empty, while requests
 * wait or run and no step is in flight, ends the engine with an error that names it.
 */
public interface StepPolicy {
    /**
     * Fills the next step.
     *
     * @param state what the call before returned; 0 at first
     * @return what the next call is to be given
     */
    long plan(StepBuilder step, long state);

    /** The state after a step that only prefilled because the scheduler's caller wanted it to. */
    default long afterPrefill(long state) {
        return state;
    }

    /** Mixed steps with chunked prefill, otherwise alternating ones. */
    static StepPolicy standard(boolean chunkedPrefill, boolean decodeFirst) {
        return chunkedPrefill ? mixed() : alternating(decodeFirst);
    }

    /** An iteration is one step that prefills what was admitted, and one that decodes, before it or after. */
    static StepPolicy alternating(boolean decodeFirst) {
        return new Alternating(decodeFirst);
    }

    /**
     * Every step decodes; prompts get what is left of the budget, and at least one token, so that neither starves. For prompts that
     * may be cut.
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

    /** {@link #alternating}; the state is the phase, and whether the iteration has decoded. */
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
