package io.roseinfer.scheduler;

import io.roseinfer.base.Check;

/** Looks into a sequence for tests, with what the package's own classes can see. */
public final class SequenceProbe {
    private SequenceProbe() {}

    /** Steps in flight that the sequence is part of. */
    public static int inFlight(Sequence sequence) {
        return sequence.inFlight;
    }

    /** Fails unless {@code confirmed ≤ computed ≤ known and pending ≤ most}, with blocks for all that is computed. */
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
