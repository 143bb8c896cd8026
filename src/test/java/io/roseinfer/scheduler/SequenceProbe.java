package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.policy.PolicyRequest;

/** Test access to package-private state of sequences. */
public final class SequenceProbe {
    private SequenceProbe() {}

    /** Returns a request, for policies that ignore which one it is. */
    public static PolicyRequest request() {
        return new Sequence(0, "", new int[1], 2, SamplingParams.greedy(), 0, new int[0]).waiting;
    }

    /** Returns the sequence that a policy sees as a request. */
    public static Sequence sequence(PolicyRequest request) {
        return ((RequestView) request).sequence;
    }

    /** Returns how often the sequence was passed over. */
    public static int timesPassedOver(Sequence sequence) {
        return sequence.timesPassedOver;
    }

    /** Returns the number of steps in flight that include the sequence. */
    public static int inFlight(Sequence sequence) {
        return sequence.inFlight;
    }

    /** Returns whether a policy chose its last preemption, so that the admission policy ranks it again. */
    public static boolean wasPreemptedByChoice(Sequence sequence) {
        return sequence.chosenPreemptions > 0 && !sequence.restartsFirst;
    }

    /** Fails unless {@code confirmed ≤ computed ≤ length} and all computed tokens have blocks. */
    public static void checkMarks(Sequence sequence) {
        Check.that(
                sequence.confirmed <= sequence.computed && sequence.computed <= sequence.plannedLength(),
                "confirmed %d of computed %d tokens, or more computed than planned",
                sequence.confirmed,
                sequence.computed);
        Check.that(
                sequence.plannedLength() <= sequence.maxLength() && sequence.length() <= sequence.plannedLength(),
                "%d tokens planned of at most %d",
                sequence.plannedLength(),
                sequence.maxLength());
        if (sequence.finishReason().isEmpty()) {
            Check.that(
                    sequence.inFlight > 0 || sequence.confirmed == sequence.computed,
                    "%d tokens confirmed of %d computed, and no step in flight",
                    sequence.confirmed,
                    sequence.computed);
            Check.that(
                    sequence.computed <= sequence.table().capacity(),
                    "%d tokens computed, room for %d",
                    sequence.computed,
                    sequence.table().capacity());
        }
    }
}
